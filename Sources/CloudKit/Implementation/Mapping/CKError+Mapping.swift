package import CloudKitWebClient
import CloudKitWire
import Foundation

extension CKError {
    /// Makes an error with a message, and more that is known besides.
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

    /// Puts the failure of a request into Apple's terms.
    package static func make(_ error: WebClientError) -> CKError {
        CKError(error)
    }

    /// Puts the failure of a request into Apple's terms.
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
        case .unexpectedAnswer(let status, _, let retryAfter):
            self.init(
                Self.code(ofAnswer: status),
                message: error.description,
                retryAfter: retryAfter,
                cause: error
            )
        case .unwritable: self.init(.invalidArguments, message: error.description, cause: error)
        }
    }

    /// Puts the failure of one item into Apple's terms.
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

    /// The native code of an answer that is not of the service's making, by its HTTP status.
    ///
    /// Nearly all of them pass: what answered was something on the way, such as a proxy, or the
    /// service in the middle of a change, and nobody knows what became of the request. A proxy that
    /// lets no request of this size pass never will.
    private static func code(ofAnswer status: Int) -> CKError.Code {
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

    /// The native code of a refused request; a query names an unknown type only by its reason.
    private static func code(_ refusal: RequestError) -> CKError.Code {
        if let code = code(native: refusal.nativeErrorCode, refusal.deletionReason) { return code }
        let isUnknownType = refusal.reason?.hasPrefix("Did not find record type") ?? false
        return isUnknownType ? .unknownItem : code(refusal.serverErrorCode)
    }

    /// The native code that this package's server adds where its own code does not tell it; nil for
    /// a number that this version does not know.
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

    /// Whether there is no zone to do anything in.
    var isAboutMissingZone: Bool { code == .zoneNotFound || code == .userDeletedZone }

    /// The native code of a share that was refused, which only the reason tells.
    private static func code(ofShare error: ItemError) -> CKError.Code? {
        guard error.serverErrorCode == .badRequest, let reason = error.reason else { return nil }
        return switch ShareRefusal.allCases.first(where: { reason.hasPrefix($0.rawValue) }) {
        case .alreadyShared: .alreadyShared
        case .tooManyParticipants: .tooManyParticipants
        case .zoneIsShared: .serverRejectedRequest
        case nil: nil
        }
    }

    /// The native code of a service's code; `reference violation` and the like by their meaning.
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
        // What was to be done for the user of before waits for that user.
        case .userChanged: .notAuthenticated
        case .cancelled: .operationCancelled
        case .fileNotFound: .assetFileNotFound
        case .fileUnusable, .gone: .assetNotAvailable
        case .oversized: .serverResponseLost
        default: .networkFailure
        }
    }
}
