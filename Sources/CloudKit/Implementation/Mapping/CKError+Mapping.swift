package import CloudKitWebClient
import CloudKitWire
import Foundation

extension CKError {
    /// Creates an error with a message and further details.
    init(
        _ code: CKError.Code,
        message: String,
        retryAfter: Double? = nil,
        cause: (any Error)? = nil,
        userInfo: [String: Any] = [:]
    ) {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        if let retryAfter { userInfo[CKErrorRetryAfterKey] = NSNumber(value: retryAfter) }
        if let cause { userInfo[NSUnderlyingErrorKey] = cause }
        self.init(code, userInfo: userInfo)
    }

    /// Returns the native form of a failed request's error.
    package static func make(_ error: WebClientError) -> CKError {
        CKError(error)
    }

    /// Creates the native form of a failed request's error.
    init(_ error: WebClientError) {
        switch error {
        case .refused(let refusal, _):
            self.init(
                Self.code(refusal),
                message: Self.message(refusal.serverErrorCode, refusal.reason),
                retryAfter: refusal.retryAfter,
                cause: refusal,
                userInfo: Self.userInfo(of: refusal.deletionReason)
            )
        case .transport(let failure):
            self.init(Self.code(failure.code), message: failure.message, cause: failure)
        case .unexpectedResponse(let status, _, let retryAfter):
            self.init(
                Self.code(ofStatus: status),
                message: error.description,
                retryAfter: retryAfter,
                cause: error
            )
        case .unwritable: self.init(.invalidArguments, message: error.description, cause: error)
        }
    }

    /// Creates the native form of an item's error.
    init(_ error: ItemError) {
        self.init(
            Self.code(native: error.nativeErrorCode, error.deletionReason)
                ?? Self.code(ofShare: error) ?? Self.code(error.serverErrorCode),
            message: Self.message(error.serverErrorCode, error.reason),
            retryAfter: error.retryAfter,
            cause: error,
            userInfo: Self.userInfo(of: error.deletionReason)
        )
    }

    /// Returns the native code for the HTTP status of a response that does not come from the
    /// service.
    ///
    /// Nearly all of these are transient: the response came from an intermediary such as a proxy,
    /// or from the service during a change, and the outcome of the request is unknown. But a proxy
    /// that refuses requests of this size will always refuse them.
    private static func code(ofStatus status: Int) -> CKError.Code {
        switch status {
        case 200..<300: .serverResponseLost
        case 413: .limitExceeded
        case 429: .requestRateLimited
        case 500...: .serviceUnavailable
        default: .networkFailure
        }
    }

    private static func message(_ code: ServerErrorCode, _ reason: String?) -> String {
        guard let reason else { return code.rawValue }
        return "\(reason) (\(code.rawValue))"
    }

    /// Returns the native code of a refused request; only the reason identifies an unknown record
    /// type.
    private static func code(_ refusal: RequestError) -> CKError.Code {
        if let code = code(native: refusal.nativeErrorCode, refusal.deletionReason) { return code }
        let isUnknownType = refusal.reason?.hasPrefix("Did not find record type") ?? false
        return isUnknownType ? .unknownItem : code(refusal.serverErrorCode)
    }

    /// Returns the native code that this package's server adds where its own code is not specific;
    /// nil for a number that this version does not know.
    private static func code(
        native number: Int?,
        _ reason: ZoneDeletionReason?
    ) -> CKError.Code? {
        number.flatMap(CKError.Code.init) ?? (reason == .purged ? .userDeletedZone : nil)
    }

    private static func userInfo(of reason: ZoneDeletionReason?) -> [String: Any] {
        guard reason == .encryptedDataReset else { return [:] }
        return [CKErrorUserDidResetEncryptedDataKey: NSNumber(value: true)]
    }

    /// `true` when the zone does not exist.
    var isAboutMissingZone: Bool { code == .zoneNotFound || code == .userDeletedZone }

    /// Returns the native code of a refused share, which only the reason identifies.
    private static func code(ofShare error: ItemError) -> CKError.Code? {
        guard error.serverErrorCode == .badRequest, let reason = error.reason else { return nil }
        return switch ShareRefusal.allCases.first(where: { reason.hasPrefix($0.rawValue) }) {
        case .alreadyShared: .alreadyShared
        case .tooManyParticipants: .tooManyParticipants
        case .zoneIsShared: .serverRejectedRequest
        case nil: nil
        }
    }

    /// Returns the native code for a service's code; `reference violation` and the like by their
    /// meaning.
    private static func code(_ code: ServerErrorCode) -> CKError.Code {
        switch code {
        case .accessDenied: .permissionFailure
        case .atomicError: .batchRequestFailed
        case .authenticationFailed, .authenticationRequired: .notAuthenticated
        case .badRequest: .invalidArguments
        case .changeTokenExpired: .changeTokenExpired
        case .conflict: .serverRecordChanged
        case .exists, .uniqueFieldError: .constraintViolation
        case .notFound: .unknownItem
        case .quotaExceeded: .quotaExceeded
        case .throttled: .requestRateLimited
        case .tryAgainLater: .serviceUnavailable
        case .validatingReferenceError: .referenceViolation
        case .zoneBusy: .zoneBusy
        case .zoneNotFound: .zoneNotFound
        default: .internalError
        }
    }

    private static func code(_ code: TransportError.Code) -> CKError.Code {
        switch code {
        case .unreachable: .networkUnavailable
        case .badAddress: .badContainer
        // Changes for the earlier user wait for that user.
        case .userChanged: .notAuthenticated
        case .cancelled: .operationCancelled
        case .fileNotFound: .assetFileNotFound
        case .fileUnusable, .notFound: .assetNotAvailable
        case .oversized: .serverResponseLost
        default: .networkFailure
        }
    }
}
