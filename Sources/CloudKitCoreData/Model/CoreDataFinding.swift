/// A part of a model that CloudKit does not accept, or that has surprising effects.
public struct CoreDataFinding: Hashable, Sendable, CustomStringConvertible {
    /// The severity of a finding.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The container does not load the store, or records do not sync.
        case error
        /// It works, with a loss or a risk.
        case warning
        /// No action is required.
        case note
    }

    /// The rules of the check.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// An entity has a uniqueness constraint.
        case uniquenessConstraint
        /// An attribute has a type that is not stored.
        case attributeType
        /// A relationship is required.
        case requiredRelationship
        /// A relationship has no inverse.
        case missingInverse
        /// A relationship blocks the deletion of objects.
        case denyRule
        /// A relationship refers to an entity of another store.
        case otherConfiguration
        /// A relationship is ordered.
        case orderedRelationship
        /// An attribute is required and has no default.
        case missingDefault
        /// The key that excludes an attribute from CloudKit is used where it is not allowed.
        case ignoredProperty
        /// The key that encrypts an attribute is used where it is not allowed.
        case encryptedProperty
        /// An entity has too many numbers and dates for one record.
        case recordSize
        /// Two properties of a hierarchy need one field in different ways.
        case fieldConflict
        /// A property's name is not valid for a field.
        case fieldName
        /// An encrypted attribute is mirrored to the public database.
        case encryptedInPublic
        /// A transformer must be registered before the store is loaded.
        case transformer
        /// A flag of Sync Services claims that a part does not sync.
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

    /// The severity.
    public var severity: Severity
    /// The rule.
    public var rule: Rule
    /// The entity.
    public var entity: String
    /// The property; nil for the whole entity.
    public var property: String?
    /// The finding, and its consequence.
    public var message: String
    /// The action to take.
    public var remedy: String

    /// The finding on one line.
    public var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return "\(severity.rawValue): \(place): \(message); \(remedy)"
    }
}
