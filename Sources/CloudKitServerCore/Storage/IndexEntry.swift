#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An entry of the index table: a key whose bytes sort as the value does, and the record.
public struct IndexEntry: Hashable, Sendable {
    /// The number of the index, assigned by the schema.
    public var index: Int64
    /// The key; engines order keys byte by byte.
    public var key: Data
    /// The record.
    public var record: RowID<StoredRecord>

    /// Creates an entry.
    public init(index: Int64, key: Data, record: RowID<StoredRecord>) {
        self.index = index
        self.key = key
        self.record = record
    }
}
