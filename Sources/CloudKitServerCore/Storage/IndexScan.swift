#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A scan of a part of one index, in one zone.
public struct IndexScan: Hashable, Sendable {
    /// The zone.
    public var zone: RowID<StoredZone>
    /// The number of the index.
    public var index: Int64
    /// The first key.
    public var lowerBound: Data
    /// The key before which the scan ends; `nil` for the end of the index.
    public var upperBound: Data?
    /// A Boolean value that indicates whether keys (and records with the same key) are in
    /// descending order.
    public var isDescending: Bool
    /// The entry after which the scan starts, in its direction; `nil` for its beginning.
    public var after: IndexEntry?
    /// The maximum number of entries.
    public var limit: Int

    /// Creates a scan.
    public init(
        zone: RowID<StoredZone>,
        index: Int64,
        lowerBound: Data = Data(),
        upperBound: Data? = nil,
        isDescending: Bool = false,
        after: IndexEntry? = nil,
        limit: Int
    ) {
        self.zone = zone
        self.index = index
        self.lowerBound = lowerBound
        self.upperBound = upperBound
        self.isDescending = isDescending
        self.after = after
        self.limit = limit
    }
}

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
