import CloudKitWire

/// Why one record of a request failed.
struct RecordFailure: Error, Hashable {
    var code: ServerErrorCode
    var reason: String
    /// What the service's code does not tell.
    var nativeCode: NativeErrorCode?
    /// Why the record's zone is gone.
    var deletionReason: ZoneDeletionReason?

    init(_ code: ServerErrorCode, _ reason: String, nativeCode: NativeErrorCode? = nil) {
        self.code = code
        self.reason = reason
        self.nativeCode = nativeCode
    }

    /// What a record fails by that needs this failure's record, which does not exist for it.
    ///
    /// What holds for the one holds for the other: no room, no time. One whose own parent is missing
    /// fails those below it as by an internal error, as observed of the native API. What is only
    /// about the one record leaves the other without what it needs.
    ///
    /// - Parameters:
    ///   - needs: What the other record needs, as the start of a reason.
    ///   - code: The code of a record that lacks it.
    /// - Returns: The other record's failure.
    func passedOn(_ needs: String, otherwise code: ServerErrorCode) -> RecordFailure {
        let reason = "\(needs), which was not saved: its own error says why"
        return switch self.code {
        case .quotaExceeded, .tryAgainLater, .throttled, .zoneBusy, .internalError:
            RecordFailure(self.code, reason, nativeCode: nativeCode)
        case .validatingReferenceError: RecordFailure(.internalError, reason)
        default: RecordFailure(code, reason)
        }
    }

    /// What is said of a record that is not as it was written.
    static func damaged(_ name: String) -> RecordFailure {
        RecordFailure(
            .internalError,
            "The stored record '\(name)' is damaged; it can be replaced or deleted"
        )
    }

    /// The failure as an element of an answer.
    func item(_ recordName: String, zone: WireZoneID? = nil) -> ItemError {
        ItemError(
            code,
            reason: reason,
            recordName: recordName,
            zoneID: zone,
            nativeErrorCode: nativeCode,
            deletionReason: deletionReason
        )
    }
}
