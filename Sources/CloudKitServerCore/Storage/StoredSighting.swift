/// A record that entered or left a participant's sight of a shared zone.
public struct StoredSighting: Hashable, Sendable {
    /// The record.
    public var record: RowID<StoredRecord>
    /// The number of that change in the zone; no change of a record has the same number.
    public var sequence: Int64

    /// Creates a row.
    public init(record: RowID<StoredRecord>, sequence: Int64) {
        self.record = record
        self.sequence = sequence
    }
}
