/// A record, or its tombstone, without what may be large.
public struct StoredRecordHead: Hashable, Sendable {
    /// The row, with empty fields and nothing in `extra`; whether it is damaged is not known.
    public var record: StoredRecord
    /// The bytes of its fields.
    public var fieldBytes: Int

    /// Makes a head of what was read without its fields.
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
