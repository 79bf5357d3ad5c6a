/// A record or tombstone, without the parts that may be large.
public struct StoredRecordHead: Hashable, Sendable {
    /// The row, with empty fields and no `extra`; whether it is damaged is unknown.
    public var record: StoredRecord
    /// The number of bytes of its fields.
    public var fieldBytes: Int

    /// Creates a head from a row that was read without its fields.
    public init(_ record: StoredRecord, fieldBytes: Int) {
        self.record = record
        self.fieldBytes = fieldBytes
    }

    init(of record: StoredRecord) {
        self.init(record, fieldBytes: record.fields.count)
        self.record.fields.removeAll()
        self.record.extra = nil
    }
}
