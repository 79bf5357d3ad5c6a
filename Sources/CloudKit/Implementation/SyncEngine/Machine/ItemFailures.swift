/// The records and zones that failed in an operation, with their errors.
struct ItemFailures: Sendable {
    private(set) var records: [CKRecord.ID: CKError] = [:]
    private(set) var zones: [CKRecordZone.ID: CKError] = [:]

    var isEmpty: Bool { records.isEmpty && zones.isEmpty }

    mutating func add(_ error: CKError, of recordID: CKRecord.ID) { records[recordID] = error }

    mutating func add(_ error: CKError, of zoneID: CKRecordZone.ID) { zones[zoneID] = error }

    /// Returns the transient error with the longest wait, including the operation's own errors; nil
    /// if none is transient.
    func longestTransient(with errors: CKError?...) -> CKError? {
        let all = Array(records.values) + zones.values + errors.compactMap { $0 }
        return all.filter(\.passes)
            .max { ($0.retryAfterSeconds ?? 0) < ($1.retryAfterSeconds ?? 0) }
    }

    /// The error of the call with these items; nil if none failed.
    var error: CKError? {
        guard !isEmpty else { return nil }
        var errors: [AnyHashable: any Error] = [:]
        for (recordID, error) in records { errors[recordID] = error }
        for (zoneID, error) in zones { errors[zoneID] = error }
        let codes = Set((Array(records.values) + zones.values).map { "\($0.code)" })
        return CKError(
            .partialFailure,
            message: "\(errors.count) items failed: \(codes.sorted().joined(separator: ", ")); "
                + "partialErrorsByItemID has the errors by item, and the delegate was notified "
                + "of each",
            userInfo: [CKPartialErrorsByItemIDKey: errors]
        )
    }
}
