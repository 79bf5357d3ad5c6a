extension CoreDataModel {
    /// An entity with its own properties, without those of its parent.
    public struct Entity: Hashable, Sendable {
        /// The entity's name.
        public var name: String
        /// The class of its objects; nil for `NSManagedObject`.
        public var className: String?
        /// A Boolean value that indicates whether all objects belong to sub-entities.
        public var isAbstract = false
        /// The entity that it inherits from.
        public var parent: String?

        /// The attributes that it declares, by name.
        public var attributes: [Attribute] = []
        /// The relationships that it declares, by name.
        public var relationships: [Relationship] = []
        /// The fetched properties that it declares, by name.
        public var fetchedProperties: [FetchedProperty] = []

        /// The indexes.
        public var fetchIndexes: [FetchIndex] = []
        /// The compound indexes of old models: attributes by name.
        public var compoundIndexes: [[String]] = []
        /// The sets of properties whose combined values are unique.
        public var uniquenessConstraints: [[String]] = []

        /// The mode of Xcode's code generation: `class`, `category`, or nil.
        public var codeGeneration: String?
        /// A Boolean value that represents the flag of Sync Services; it does not exclude anything
        /// from CloudKit.
        public var isSyncable = true
        /// The name in previous versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// The app's own information about the entity.
        public var userInfo: [String: String] = [:]

        /// Creates an entity without properties.
        public init(name: String) {
            self.name = name
        }

        /// Returns the attribute that the entity declares with a name.
        public func attribute(named name: String) -> Attribute? {
            attributes.first { $0.name == name }
        }

        /// Returns the relationship that the entity declares with a name.
        public func relationship(named name: String) -> Relationship? {
            relationships.first { $0.name == name }
        }
    }
}
