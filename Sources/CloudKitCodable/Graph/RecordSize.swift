public import CloudKit

/// The part of CloudKit's limit of one megabyte that a record takes, field by field.
///
/// It is an upper estimate of the values' bytes; assets do not count.
///
/// ```swift
/// let size = RecordSize(of: record)
/// if size.total > RecordSize.limit, let largest = size.fields.first {
///     print("\(largest.key) takes \(largest.bytes) bytes")
/// }
/// ```
public struct RecordSize: Sendable {
    /// The maximum number of bytes in a record.
    public static let limit = 1_000_000

    /// The bytes of all fields.
    public let total: Int

    /// The fields, largest first.
    public let fields: [(key: CKRecord.FieldKey, bytes: Int)]

    /// Measures a record.
    public init(of record: CKRecord) {
        let encrypted = record.encryptedValues
        let fields =
            record.allKeys().map { ($0, Self.bytes($0, record.object(forKey: $0))) }
            + encrypted.allKeys().map { ($0, Self.bytes($0, encrypted.object(forKey: $0))) }
        self.fields = fields.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { (key: $0.0, bytes: $0.1) }
        total = fields.reduce(0) { $0 + $1.1 }
    }

    /// The three largest fields, for a message.
    var largest: String {
        fields.prefix(3).map { "\($0.key) (\($0.bytes) bytes)" }.joined(separator: ", ")
    }

    private static func bytes(_ key: String, _ value: Any?) -> Int {
        key.utf8.count + bytes(value)
    }

    private static func bytes(_ value: Any?) -> Int {
        switch value {
        case let text as String: text.utf8.count
        case let data as Data: data.count
        case let reference as CKRecord.Reference: reference.recordID.recordName.utf8.count + 8
        case is CLLocation: 64
        case is CKAsset: 0
        case let list as [Any]: list.reduce(0) { $0 + bytes($1) }
        default: 8
        }
    }
}
