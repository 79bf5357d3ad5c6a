/// The body of `records/modify`.
public struct ModifyRecordsRequest: Hashable, Sendable, Codable {
    /// The changes, at most one for each record, applied in this order; but a record's parent in
    /// the same request is saved before it.
    public var operations: [RecordOperation]
    /// The zone of all records that do not name one.
    public var zoneID: WireZoneID?
    /// A Boolean value that indicates whether the changes are atomic; nil means yes in a custom
    /// zone, no in the default zone.
    public var atomic: Bool?
    /// The fields that the response includes; nil for all.
    public var desiredKeys: [String]?
    /// A Boolean value that indicates whether the response has INT64 and DOUBLE values as strings.
    public var numbersAsStrings: Bool?

    /// Creates a request.
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
