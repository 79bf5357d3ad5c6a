import CloudKitWire

/// The failure of one record of a request.
struct RecordFailure: Error, Hashable {
    var code: ServerErrorCode
    var reason: String
    /// The native code, if the service's code does not determine it.
    var nativeCode: NativeErrorCode?
    /// The reason for the deletion of the record's zone.
    var deletionReason: ZoneDeletionReason?

    init(_ code: ServerErrorCode, _ reason: String, nativeCode: NativeErrorCode? = nil) {
        self.code = code
        self.reason = reason
        self.nativeCode = nativeCode
    }

    /// Returns the failure of a record that depends on the record of this failure.
    ///
    /// Failures that would affect both, such as a lack of space or time, are passed on. A missing
    /// parent fails its dependents with an internal error, as observed in the native API. Any other
    /// failure leaves the dependent record without the one that it needs.
    ///
    /// - Parameters:
    ///   - needs: The dependency, as the start of a reason.
    ///   - code: The code of a record without its dependency.
    /// - Returns: The dependent record's failure.
    func passedOn(_ needs: String, otherwise code: ServerErrorCode) -> RecordFailure {
        let reason = "\(needs), which was not saved: see its own error"
        return switch self.code {
        case .quotaExceeded, .tryAgainLater, .throttled, .zoneBusy, .internalError:
            RecordFailure(self.code, reason, nativeCode: nativeCode)
        case .validatingReferenceError: RecordFailure(.internalError, reason)
        default: RecordFailure(code, reason)
        }
    }

    /// Returns the failure of a damaged record.
    static func damaged(_ name: String) -> RecordFailure {
        RecordFailure(
            .internalError,
            "The stored record '\(name)' is damaged; it can be replaced or deleted"
        )
    }

    /// Returns the failure as an item of a response.
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
