extension CoreDataModel {
    /// What becomes of the other end when an object is deleted.
    public enum DeleteRule: Int, Hashable, Sendable, CaseIterable {
        /// It stays, with a link to nothing.
        case noAction = 0
        /// It stays, and its link is removed.
        case nullify = 1
        /// It is deleted too.
        case cascade = 2
        /// It keeps the object from being deleted.
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
        /// The entity of the objects that it leads to; these may be of its sub-entities.
        public var destination: String
        /// The name of the relationship that leads back, if there is one.
        public var inverseName: String?
        /// The entity that declares the relationship that leads back.
        public var inverseEntity: String?
        /// Whether it leads to several objects.
        public var isToMany = false
        /// Whether these have an order.
        public var isOrdered = false
        /// Whether it may lead to none.
        public var isOptional = false
        /// Whether it is neither stored nor synced.
        public var isTransient = false
        /// The least number of objects.
        public var minimumCount = 0
        /// The greatest number of objects; 0 is no limit.
        public var maximumCount = 0
        /// What becomes of those objects when this one is deleted.
        public var deleteRule = DeleteRule.noAction
        /// The flag of Sync Services; it does not keep anything out of CloudKit.
        public var isSyncable = true

        /// The name in former versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// What the app keeps with the relationship.
        public var userInfo: [String: String] = [:]

        /// Makes a required to-one relationship without an inverse.
        public init(name: String, destination: String) {
            self.name = name
            self.destination = destination
        }
    }
}
