extension CKError {
    /// `true` when the error is transient and the change is kept for a retry: the cause was the
    /// network or the server's load, or the outcome is unknown.
    var passes: Bool {
        switch code {
        case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure,
            .networkUnavailable, .requestRateLimited, .serviceUnavailable, .zoneBusy,
            .operationCancelled, .serverResponseLost:
            true
        default: false
        }
    }

    /// `true` when the server was not reached.
    var isOfNetwork: Bool { code == .networkUnavailable || code == .networkFailure }

    /// `true` when a zone's error means that the next request fails too.
    var concernsAllZones: Bool { passes && code != .zoneBusy }

    /// Returns the error of stopped calls.
    static func stopped(_ reason: String = "The engine was stopped") -> CKError {
        CKError(.operationCancelled, message: reason)
    }
}
