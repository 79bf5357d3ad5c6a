/// A difference between a deployed schema and the requirements of a model.
public struct CoreDataSchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of differences.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The record type is not in the schema.
        case missingType
        /// The field is not in the schema.
        case missingField
        /// The field has another type, which cannot be changed in production.
        case wrongType
        /// The field lacks the index that the public database requires.
        case missingIndex
        /// The model does not use the type, but an older version of the app may.
        case unusedType
        /// The model does not use the field, but an older version of the app may.
        case unusedField
    }

    /// The kind of difference.
    public var kind: Kind
    /// The severity: an error if the app fails because of it.
    public var severity: CoreDataFinding.Severity
    /// The record type.
    public var recordType: String
    /// The field; nil for the whole type.
    public var field: String?
    /// The entity and property that require it; empty if there is none.
    public var place: String
    /// The difference, and the action to take.
    public var message: String

    /// The severity, the record type or field, and the message.
    public var description: String {
        let name = field.map { "\(recordType).\($0)" } ?? recordType
        return "\(severity.rawValue): \(name): \(message)"
    }
}
