/// A code of the native API, for errors that the service's own codes do not distinguish.
///
/// An extension of this package's server, in error dictionaries under `nativeErrorCode`; the
/// numbers are those of `CKError.Code`. Clients that do not know the key use the `serverErrorCode`.
public enum NativeErrorCode: Int, Hashable, Sendable, CaseIterable {
    /// Something failed inside CloudKit.
    case internalError = 1
    /// Some items failed.
    case partialFailure
    /// The server cannot be reached.
    case networkUnavailable
    /// The connection broke.
    case networkFailure
    /// The container is unknown or may not be used.
    case badContainer
    /// The service is down or busy.
    case serviceUnavailable
    /// There were too many requests.
    case requestRateLimited
    /// The app lacks an entitlement.
    case missingEntitlement
    /// No account is signed in.
    case notAuthenticated
    /// The user lacks the permission.
    case permissionFailure
    /// The record does not exist.
    case unknownItem
    /// The request is invalid.
    case invalidArguments
    /// Not all results were sent.
    case resultsTruncated
    /// The server's record is newer.
    case serverRecordChanged
    /// The server refused the request permanently.
    case serverRejectedRequest
    /// The file of an asset does not exist.
    case assetFileNotFound
    /// The file of an asset changed while it was being saved.
    case assetFileModified
    /// The app is too old.
    case incompatibleVersion
    /// A unique field has that value already.
    case constraintViolation
    /// The operation was cancelled.
    case operationCancelled
    /// The change token is too old.
    case changeTokenExpired
    /// Another item of the same atomic request failed.
    case batchRequestFailed
    /// The zone is busy.
    case zoneBusy
    /// The database does not support the request.
    case badDatabase
    /// The storage is full.
    case quotaExceeded
    /// The zone does not exist.
    case zoneNotFound
    /// The request or an item is too large.
    case limitExceeded
    /// The user deleted the zone in the settings.
    case userDeletedZone
    /// The share has too many participants.
    case tooManyParticipants
    /// The record is part of another share.
    case alreadyShared
    /// The target of a reference is missing.
    case referenceViolation
    /// The account's administrator forbids this.
    case managedAccountRestricted
    /// The user must verify that they are a participant.
    case participantMayNeedVerification
    /// The response was lost.
    case serverResponseLost
    /// The file of an asset cannot be read now.
    case assetNotAvailable
    /// The account cannot be used until the user acts.
    case accountTemporarilyUnavailable
    /// The participant is invited already.
    case participantAlreadyInvited

    /// Creates a code from a name such as `userDeletedZone`; nil for an unknown one.
    public init?(name: String) {
        guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = code
    }

    /// The name of the case in Swift.
    public var name: String { "\(self)" }

    /// The service's own code with the same meaning, or the nearest one that its clients
    /// understand.
    public var serverErrorCode: ServerErrorCode {
        switch self {
        case .internalError, .serverResponseLost: .internalError
        // Transient errors are to be retried; no data may be discarded because of them.
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .operationCancelled,
            .accountTemporarilyUnavailable:
            .tryAgainLater
        case .requestRateLimited: .throttled
        case .badContainer: .authenticationFailed
        case .notAuthenticated: .authenticationRequired
        case .missingEntitlement, .permissionFailure, .managedAccountRestricted,
            .participantMayNeedVerification:
            .accessDenied
        case .unknownItem, .assetNotAvailable: .notFound
        case .partialFailure, .invalidArguments, .resultsTruncated, .serverRejectedRequest,
            .assetFileNotFound, .assetFileModified, .incompatibleVersion, .badDatabase,
            .limitExceeded, .tooManyParticipants, .alreadyShared:
            .badRequest
        case .serverRecordChanged: .conflict
        case .constraintViolation: .uniqueFieldError
        case .changeTokenExpired: .changeTokenExpired
        case .batchRequestFailed: .atomicError
        case .zoneBusy: .zoneBusy
        case .quotaExceeded: .quotaExceeded
        case .zoneNotFound, .userDeletedZone: .zoneNotFound
        case .referenceViolation: .validatingReferenceError
        case .participantAlreadyInvited: .exists
        }
    }
}
