/// The fields that every record has, with the names that queries and schemas give them.
public enum SystemField: String, Hashable, Sendable, CaseIterable {
    /// The record's ID.
    case recordName = "recordName"
    /// The share whose root is the record.
    case share = "share"
    /// The record above this one in a shared hierarchy.
    case parent = "parent"
    /// The user who created the record.
    case createdUserRecordName = "createdUserRecordName"
    /// The user who last changed the record.
    case modifiedUserRecordName = "modifiedUserRecordName"
    /// The date of the record's creation.
    case createdTimestamp = "createdTimestamp"
    /// The date of the last change.
    case modifiedTimestamp = "modifiedTimestamp"

    /// The field's name in schemas and in native predicates, such as `___createTime`.
    public var schemaName: String {
        switch self {
        case .recordName: "___recordID"
        case .share: "___share"
        case .parent: "___parent"
        case .createdUserRecordName: "___createdBy"
        case .modifiedUserRecordName: "___modifiedBy"
        case .createdTimestamp: "___createTime"
        case .modifiedTimestamp: "___modTime"
        }
    }

    /// Creates the field with either name; nil for an unknown one.
    public init?(name: String) {
        guard
            let field = Self.allCases.first(where: { $0.rawValue == name || $0.schemaName == name })
        else { return nil }
        self = field
    }

    /// The type of the field's values.
    public var type: FieldType.Scalar {
        switch self {
        case .createdTimestamp, .modifiedTimestamp: .timestamp
        default: .reference
        }
    }
}
