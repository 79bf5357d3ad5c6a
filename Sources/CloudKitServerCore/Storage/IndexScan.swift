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
