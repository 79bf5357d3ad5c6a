extension CoreDataModel {
    /// A group of attributes that serves as the type of another attribute.
    public struct Composite: Hashable, Sendable {
        /// The composite's name.
        public var name: String
        /// Its attributes by name, some of which may be composites.
        public var attributes: [Attribute] = []

        /// Creates a composite without attributes.
        public init(name: String) {
            self.name = name
        }
    }

    /// A set of entities that a separate store may hold.
    public struct Configuration: Hashable, Sendable {
        /// The configuration's name.
        public var name: String
        /// The names of its entities.
        public var entities: [String]
        /// A Boolean value that indicates whether the model's editor marks it for use with CloudKit.
        public var isUsedWithCloudKit = false

        /// Creates a configuration.
        public init(name: String, entities: [String]) {
            self.name = name
            self.entities = entities
        }
    }

    /// A query in a model: in its list of fetch requests, or in a fetched property.
    public struct FetchRequest: Hashable, Sendable {
        /// The request's name.
        public var name: String
        /// The entity of the fetched objects.
        public var entity: String?
        /// The predicate as text.
        public var predicate: String?

        /// Creates a request for all objects of an entity.
        public init(name: String, entity: String?) {
            self.name = name
            self.entity = entity
        }
    }

    /// A query that is a property of an entity.
    ///
    /// It is neither stored nor synced.
    public struct FetchedProperty: Hashable, Sendable {
        /// The property's name.
        public var name: String
        /// The query.
        public var request: FetchRequest?
        /// A Boolean value that indicates whether the value may be missing.
        public var isOptional = false
        /// The app's own information about the property.
        public var userInfo: [String: String] = [:]

        /// Creates a property.
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
            /// A Boolean value that indicates whether the index is an R-tree, which finds locations
            /// and ranges.
            public var isRTree = false
            /// A Boolean value that indicates whether small values come first.
            public var isAscending = true

            /// Creates a column of ascending values.
            public init(property: String?, expression: String? = nil) {
                self.property = property
                self.expression = expression
            }
        }

        /// The index's name.
        public var name: String
        /// The columns in order.
        public var elements: [Element]

        /// Creates an index.
        public init(name: String, elements: [Element]) {
            self.name = name
            self.elements = elements
        }
    }

    /// A part of a model that this package does not know.
    ///
    /// It has no effect, and is preserved.
    public struct UnknownPart: Hashable, Sendable, CustomStringConvertible {
        /// The part of the model that contains it, such as `Item.title`; empty for the model.
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
