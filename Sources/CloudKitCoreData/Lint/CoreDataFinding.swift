/// Something in a model that CloudKit does not take, or that surprises.
public struct CoreDataFinding: Hashable, Sendable, CustomStringConvertible {
    /// How grave something is.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The container does not load the store, or records do not sync.
        case error
        /// It works, with a loss or a risk.
        case warning
        /// Nothing to do.
        case note
    }

    /// A rule.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// An entity has a uniqueness constraint.
        case uniquenessConstraint
        /// An attribute has a type that is not stored.
        case attributeType
        /// A relationship must lead to something.
        case requiredRelationship
        /// A relationship has no inverse.
        case missingInverse
        /// A relationship keeps objects from being deleted.
        case denyRule
        /// A relationship leads to an entity of another store.
        case otherConfiguration
        /// A relationship is ordered.
        case orderedRelationship
        /// An attribute must have a value, and has no default.
        case missingDefault
        /// The key that keeps an attribute out of CloudKit is where it may not be.
        case ignoredProperty
        /// The key that encrypts an attribute is where it may not be.
        case encryptedProperty
        /// An entity has too many numbers and dates for one record.
        case recordSize
        /// Two properties of a hierarchy need one field in different ways.
        case fieldConflict
        /// A property's name is none of a field.
        case fieldName
        /// An encrypted attribute is mirrored to the public database.
        case encryptedInPublic
        /// A transformer must be known before the store is loaded.
        case transformer
        /// A flag of Sync Services says that something does not sync.
        case syncableFlag
        /// A relationship is many-to-many.
        case manyToMany
        /// A relationship leaves links to deleted objects.
        case noActionRule
        /// Large bytes stay in the database.
        case largeBytes
        /// A decimal number has fewer digits in CloudKit.
        case decimalDigits
    }

    /// How grave it is.
    public var severity: Severity
    /// The rule.
    public var rule: Rule
    /// The entity.
    public var entity: String
    /// The property; nil for the whole entity.
    public var property: String?
    /// What was found, and why it matters.
    public var message: String
    /// What to do.
    public var remedy: String

    /// All of it on one line.
    public var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return "\(severity.rawValue): \(place): \(message); \(remedy)"
    }
}
