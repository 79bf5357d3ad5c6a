extension CKError {
    /// Whether what failed so is kept and tried again: the network or the server's load was to
    /// blame, or nobody knows the outcome.
    var passes: Bool {
        switch code {
        case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure,
            .networkUnavailable, .requestRateLimited, .serviceUnavailable, .zoneBusy,
            .operationCancelled, .serverResponseLost:
            true
        default: false
        }
    }

    /// Whether the server was not reached.
    var isOfNetwork: Bool { code == .networkUnavailable || code == .networkFailure }

    /// Whether the failure of one zone says that the next request fails as well.
    var concernsAllZones: Bool { passes && code != .zoneBusy }

    /// What calls throw that were stopped.
    static func stopped(_ reason: String = "The engine was asked to stop") -> CKError {
        CKError(.operationCancelled, message: reason)
    }
}
