import CloudKitWire

/// Why one record of a request failed.
struct RecordFailure: Error, Hashable {
    var code: ServerErrorCode
    var reason: String

    init(_ code: ServerErrorCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The failure as an element of an answer.
    func item(_ recordName: String, zone: WireZoneID? = nil) -> ItemError {
        ItemError(code, reason: reason, recordName: recordName, zoneID: zone)
    }
}
