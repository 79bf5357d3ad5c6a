extension CoreDataModel {
    /// The effect of an object's deletion on the objects that a relationship leads to.
    public enum DeleteRule: Int, Hashable, Sendable, CaseIterable {
        /// They stay, with a link to nothing.
        case noAction = 0
        /// They stay, and their links are removed.
        case nullify = 1
        /// They are deleted too.
        case cascade = 2
        /// They prevent the deletion.
        case deny = 3

        /// The rule's name in model files.
        public var name: String {
            switch self {
            case .noAction: "No Action"
            case .nullify: "Nullify"
            case .cascade: "Cascade"
            case .deny: "Deny"
            }
        }
    }

    /// A link from objects of an entity to objects of another, or of the same.
    public struct Relationship: Hashable, Sendable {
        /// The relationship's name.
        public var name: String
        /// The entity of the related objects, which may also belong to its sub-entities.
        public var destination: String
        /// The name of the inverse relationship, if there is one.
        public var inverseName: String?
        /// The entity that declares the inverse relationship.
        public var inverseEntity: String?
        /// A Boolean value that indicates whether it leads to several objects.
        public var isToMany = false
        /// A Boolean value that indicates whether these objects have an order.
        public var isOrdered = false
        /// A Boolean value that indicates whether it may lead to no object.
        public var isOptional = false
        /// A Boolean value that indicates whether it is neither stored nor synced.
        public var isTransient = false
        /// The minimum number of objects.
        public var minimumCount = 0
        /// The maximum number of objects; 0 for no limit.
        public var maximumCount = 0
        /// The effect of this object's deletion on the related objects.
        public var deleteRule = DeleteRule.noAction
        /// A Boolean value that represents the flag of Sync Services; it does not exclude anything
        /// from CloudKit.
        public var isSyncable = true

        /// The name in previous versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// The app's own information about the relationship.
        public var userInfo: [String: String] = [:]

        /// Creates a required to-one relationship without an inverse.
        public init(name: String, destination: String) {
            self.name = name
            self.destination = destination
        }

        /// Returns whether a relationship is the end that CloudKit names first.
        static func isFirst(
            _ entity: String,
            _ name: String,
            _ otherEntity: String,
            _ other: String
        ) -> Bool {
            let order = (entity.lowercased(), name.lowercased(), name)
            return order <= (otherEntity.lowercased(), other.lowercased(), other)
        }
    }
}
