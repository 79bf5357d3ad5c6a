/// A code of the native API, where the service's own codes do not tell it.
///
/// An extension of this package's server, in error dictionaries under `nativeErrorCode`; the
/// numbers are those of `CKError.Code`. Who does not know the key has the `serverErrorCode`.
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
    /// There is no account.
    case notAuthenticated
    /// The user may not do this.
    case permissionFailure
    /// The record does not exist.
    case unknownItem
    /// The request is wrong in itself.
    case invalidArguments
    /// Not all results were sent.
    case resultsTruncated
    /// The server's record is newer.
    case serverRecordChanged
    /// The server refused the request for good.
    case serverRejectedRequest
    /// The file of an asset does not exist.
    case assetFileNotFound
    /// The file of an asset changed meanwhile.
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
    /// The answer was lost.
    case serverResponseLost
    /// The file of an asset cannot be had now.
    case assetNotAvailable
    /// The account cannot be used until the user acts.
    case accountTemporarilyUnavailable
    /// The participant is invited already.
    case participantAlreadyInvited

    /// The code of a name such as `userDeletedZone`; nil when there is none.
    public init?(name: String) {
        guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = code
    }

    /// The name as it stands in Swift.
    public var name: String { "\(self)" }

    /// The service's own code that says the same, or as much of it as its clients understand.
    public var serverErrorCode: ServerErrorCode {
        switch self {
        case .internalError, .serverResponseLost: .internalError
        // What passes is to be tried again; nothing is to be thrown away for it.
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
