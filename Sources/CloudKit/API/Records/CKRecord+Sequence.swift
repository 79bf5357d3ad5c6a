/// An iterator over a record's fields, in alphabetical order of their keys.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    /// A field's key and value.
    public typealias Element = (CKRecord.FieldKey, any CKRecordValueProtocol)

    private var keys: IndexingIterator<[CKRecord.FieldKey]>
    private let record: CKRecord

    init(_ record: CKRecord) {
        self.record = record
        keys = record.allKeys().makeIterator()
    }

    /// Returns the next field, or nil after the last.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        while let key = keys.next() {
            if let value = record[key] as (any CKRecordValueProtocol)? { return (key, value) }
        }
        return nil
    }
}

extension CKRecord: Sequence {
    /// A field's key and value.
    public typealias Element = (CKRecord.FieldKey, any CKRecordValueProtocol)

    /// An iterator over the fields that have a value.
    public typealias Iterator = CKRecordKeyValueIterator

    /// Returns an iterator over the fields that have a value.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(self)
    }
}
