extension CoreDataModel {
    /// Attributes that are together the type of another.
    public struct Composite: Hashable, Sendable {
        /// The composite's name.
        public var name: String
        /// Its attributes by name, some of which may be composites.
        public var attributes: [Attribute] = []

        /// Makes a composite without attributes.
        public init(name: String) {
            self.name = name
        }
    }

    /// Entities that a store of its own may hold.
    public struct Configuration: Hashable, Sendable {
        /// The configuration's name.
        public var name: String
        /// The names of its entities.
        public var entities: [String]
        /// Whether the model's editor says that it is for CloudKit.
        public var isUsedWithCloudKit = false

        /// Makes a configuration.
        public init(name: String, entities: [String]) {
            self.name = name
            self.entities = entities
        }
    }

    /// A query that a model holds: in a list of its own, or in a fetched property.
    public struct FetchRequest: Hashable, Sendable {
        /// The request's name.
        public var name: String
        /// The entity of the objects that it finds.
        public var entity: String?
        /// The predicate as text.
        public var predicate: String?

        /// Makes a request that finds all objects of an entity.
        public init(name: String, entity: String?) {
            self.name = name
            self.entity = entity
        }
    }

    /// A query as a property of an entity.
    ///
    /// It is neither stored nor synced.
    public struct FetchedProperty: Hashable, Sendable {
        /// The property's name.
        public var name: String
        /// The query.
        public var request: FetchRequest?
        /// Whether the property may be without a value.
        public var isOptional = false
        /// What the app keeps with the property.
        public var userInfo: [String: String] = [:]

        /// Makes a property.
        public init(name: String, request: FetchRequest?) {
            self.name = name
            self.request = request
        }
    }

    /// An index.
    public struct FetchIndex: Hashable, Sendable {
        /// A column of an index.
        public struct Element: Hashable, Sendable {
            /// The property whose value is indexed; nil for an expression.
            public var property: String?
            /// The expression whose value is indexed.
            public var expression: String?
            /// The type of the expression's value.
            public var expressionType: AttributeType?
            /// Whether the index is an R-tree, which finds places and ranges.
            public var isRTree = false
            /// Whether small values come first.
            public var isAscending = true

            /// Makes a column of ascending values.
            public init(property: String?, expression: String? = nil) {
                self.property = property
                self.expression = expression
            }
        }

        /// The index's name.
        public var name: String
        /// The columns in order.
        public var elements: [Element]

        /// Makes an index.
        public init(name: String, elements: [Element]) {
            self.name = name
            self.elements = elements
        }
    }

    /// Something in a model that is not known here.
    ///
    /// It changes nothing, and is kept.
    public struct UnknownPart: Hashable, Sendable, CustomStringConvertible {
        /// The part of the model that it was found in, such as `Item.title`; empty for the model.
        public var place: String
        /// The name of the element, of the attribute, or of the archive's key.
        public var name: String
        /// The value of an attribute, or the text in an element.
        public var value: String?
        /// The attributes of an element.
        public var attributes: [String: String] = [:]
        /// The elements in an element.
        public var children: [UnknownPart] = []

        /// The place and the name, for a message.
        public var description: String {
            let found = value.map { "\(name) = \($0.prefix(60))" } ?? name
            return place.isEmpty ? found : "\(place): \(found)"
        }
    }
}
