/// The body of `records/modify`.
public struct ModifyRecordsRequest: Hashable, Sendable, Codable {
    /// The changes, at most one for a record; applied in this order, but for records that others of
    /// the request lie below, which are saved before them.
    public var operations: [RecordOperation]
    /// The zone of all records that name none.
    public var zoneID: WireZoneID?
    /// Whether all changes succeed or none; nil means yes in a custom zone, no in the default zone.
    public var atomic: Bool?
    /// The fields that the answer echoes; nil for all.
    public var desiredKeys: [String]?
    /// Whether the answer writes INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// Makes a request.
    public init(
        operations: [RecordOperation],
        zoneID: WireZoneID? = nil,
        atomic: Bool? = nil,
        desiredKeys: [String]? = nil,
        numbersAsStrings: Bool? = nil
    ) {
        self.operations = operations
        self.zoneID = zoneID
        self.atomic = atomic
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}
