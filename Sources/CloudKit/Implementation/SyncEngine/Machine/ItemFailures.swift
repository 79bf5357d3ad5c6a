/// The records and zones that failed in an operation, and why.
struct ItemFailures: Sendable {
    private(set) var records: [CKRecord.ID: CKError] = [:]
    private(set) var zones: [CKRecordZone.ID: CKError] = [:]

    var isEmpty: Bool { records.isEmpty && zones.isEmpty }

    mutating func add(_ error: CKError, of recordID: CKRecord.ID) { records[recordID] = error }

    mutating func add(_ error: CKError, of zoneID: CKRecordZone.ID) { zones[zoneID] = error }

    /// The failure that will pass after the longest wait, the operation's own included; nil when
    /// none will.
    func longestPassing(with errors: CKError?...) -> CKError? {
        let all = Array(records.values) + zones.values + errors.compactMap { $0 }
        return all.filter(\.passes)
            .max { ($0.retryAfterSeconds ?? 0) < ($1.retryAfterSeconds ?? 0) }
    }

    /// The error of the call whose items these are; nil when none failed.
    var error: CKError? {
        guard !isEmpty else { return nil }
        var errors: [AnyHashable: any Error] = [:]
        for (recordID, error) in records { errors[recordID] = error }
        for (zoneID, error) in zones { errors[zoneID] = error }
        let codes = Set((Array(records.values) + zones.values).map { "\($0.code)" })
        return CKError(
            .partialFailure,
            message: "\(errors.count) items failed: \(codes.sorted().joined(separator: ", ")); "
                + "the errors stand by item under partialErrorsByItemID, and the delegate was told "
                + "of each",
            userInfo: [CKPartialErrorsByItemIDKey: errors]
        )
    }
}
