extension CoreDataModel {
    /// A kind of object: its own properties, without those of its parent.
    public struct Entity: Hashable, Sendable {
        /// The entity's name.
        public var name: String
        /// The class of its objects; nil is `NSManagedObject`.
        public var className: String?
        /// Whether only objects of its sub-entities exist.
        public var isAbstract = false
        /// The entity that it inherits from.
        public var parent: String?

        /// The attributes that it declares, by name.
        public var attributes: [Attribute] = []
        /// The relationships that it declares, by name.
        public var relationships: [Relationship] = []
        /// The queries that it declares as properties, by name.
        public var fetchedProperties: [FetchedProperty] = []

        /// The indexes.
        public var fetchIndexes: [FetchIndex] = []
        /// The indexes of old models: attributes by name.
        public var compoundIndexes: [[String]] = []
        /// The properties whose values no two objects have in common.
        public var uniquenessConstraints: [[String]] = []

        /// How Xcode generates code: `class`, `category`, or nil.
        public var codeGeneration: String?
        /// The flag of Sync Services; it does not keep anything out of CloudKit.
        public var isSyncable = true
        /// The name in former versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// What the app keeps with the entity.
        public var userInfo: [String: String] = [:]

        /// Makes an entity without properties.
        public init(name: String) {
            self.name = name
        }

        /// The attribute that it declares under a name.
        public func attribute(named name: String) -> Attribute? {
            attributes.first { $0.name == name }
        }

        /// The relationship that it declares under a name.
        public func relationship(named name: String) -> Relationship? {
            relationships.first { $0.name == name }
        }
    }
}
