/// A point in which a deployed schema is not what a model needs, or has more.
public struct CoreDataSchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// What kind of point it is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The record type is not in the schema.
        case missingType
        /// The field is not in the schema.
        case missingField
        /// The field has another type, which cannot be changed in production.
        case wrongType
        /// The field has not the index that the public database needs.
        case missingIndex
        /// The model needs nothing of the type. An older version of the app may.
        case unusedType
        /// The model needs nothing of the field. An older version of the app may.
        case unusedField
    }

    /// The kind.
    public var kind: Kind
    /// Whether the app fails because of it.
    public var severity: CoreDataFinding.Severity
    /// The record type.
    public var recordType: String
    /// The field; nil for the whole type.
    public var field: String?
    /// The entity and property that need it; empty where none is the cause.
    public var place: String
    /// The point, and what to do.
    public var message: String

    /// The severity, the record type or field, and the message.
    public var description: String {
        let name = field.map { "\(recordType).\($0)" } ?? recordType
        return "\(severity.rawValue): \(name): \(message)"
    }
}
