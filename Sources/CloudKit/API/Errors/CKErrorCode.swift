extension CKError {
    /// The codes of CloudKit's errors.
    @nonexhaustive
    public enum Code: Int, Sendable {
        /// Something failed inside CloudKit; a retry does not help.
        case internalError = 1
        /// Some items failed; `CKPartialErrorsByItemIDKey` holds their errors.
        case partialFailure = 2
        /// The server cannot be reached.
        case networkUnavailable = 3
        /// The connection broke while it was used.
        case networkFailure = 4
        /// The container is unknown or may not be used.
        case badContainer = 5
        /// The service is down or busy; retry after the given seconds.
        case serviceUnavailable = 6
        /// There were too many requests; retry after the given seconds.
        case requestRateLimited = 7
        /// The app lacks an entitlement.
        case missingEntitlement = 8
        /// No account is signed in, and the request requires one.
        case notAuthenticated = 9
        /// The user lacks the permission.
        case permissionFailure = 10
        /// The record does not exist.
        case unknownItem = 11
        /// The request is invalid.
        case invalidArguments = 12
        /// Never returned.
        @available(*, deprecated, message: "The server never returns this")
        case resultsTruncated = 13
        /// The server's record is newer; the error carries all three versions.
        case serverRecordChanged = 14
        /// The server refused the request; a retry does not help.
        case serverRejectedRequest = 15
        /// The file of an asset to save does not exist.
        case assetFileNotFound = 16
        /// The file of an asset changed while it was being saved.
        case assetFileModified = 17
        /// The app is too old.
        case incompatibleVersion = 18
        /// A unique field has that value already.
        case constraintViolation = 19
        /// The operation was cancelled.
        case operationCancelled = 20
        /// The change token is too old; fetch from the beginning.
        case changeTokenExpired = 21
        /// Another item of the same atomic request failed.
        case batchRequestFailed = 22
        /// The zone is busy; retry after the given seconds.
        case zoneBusy = 23
        /// The database does not support the request.
        case badDatabase = 24
        /// The storage is full.
        case quotaExceeded = 25
        /// The zone does not exist.
        case zoneNotFound = 26
        /// The request or an item is too large.
        case limitExceeded = 27
        /// The user deleted the zone in the settings.
        case userDeletedZone = 28
        /// The share has too many participants.
        case tooManyParticipants = 29
        /// The record is part of another share.
        case alreadyShared = 30
        /// The target of a parent or share reference is missing.
        case referenceViolation = 31
        /// The account's administrator forbids this.
        case managedAccountRestricted = 32
        /// The user must verify that they are a participant.
        case participantMayNeedVerification = 33
        /// The response was lost; the request may have taken effect.
        case serverResponseLost = 34
        /// The file of an asset cannot be read now.
        case assetNotAvailable = 35
        /// The account cannot be used until the user acts.
        case accountTemporarilyUnavailable = 36
        /// The participant is invited already.
        @available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
        case participantAlreadyInvited = 37
    }
}

// Allows both `catch CKError.zoneNotFound` and `error.code == .zoneNotFound`.
extension CKError {
    /// Something failed inside CloudKit; a retry does not help.
    public static var internalError: CKError.Code { .internalError }
    /// Some items failed; `CKPartialErrorsByItemIDKey` holds their errors.
    public static var partialFailure: CKError.Code { .partialFailure }
    /// The server cannot be reached.
    public static var networkUnavailable: CKError.Code { .networkUnavailable }
    /// The connection broke while it was used.
    public static var networkFailure: CKError.Code { .networkFailure }
    /// The container is unknown or may not be used.
    public static var badContainer: CKError.Code { .badContainer }
    /// The service is down or busy; retry after the given seconds.
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
    /// There were too many requests; retry after the given seconds.
    public static var requestRateLimited: CKError.Code { .requestRateLimited }
    /// The app lacks an entitlement.
    public static var missingEntitlement: CKError.Code { .missingEntitlement }
    /// No account is signed in, and the request requires one.
    public static var notAuthenticated: CKError.Code { .notAuthenticated }
    /// The user lacks the permission.
    public static var permissionFailure: CKError.Code { .permissionFailure }
    /// The record does not exist.
    public static var unknownItem: CKError.Code { .unknownItem }
    /// The request is invalid.
    public static var invalidArguments: CKError.Code { .invalidArguments }
    /// Never returned.
    @available(*, deprecated, message: "The server never returns this")
    public static var resultsTruncated: CKError.Code { .resultsTruncated }
    /// The server's record is newer; the error carries all three versions.
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
    /// The server refused the request; a retry does not help.
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }
    /// The file of an asset to save does not exist.
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }
    /// The file of an asset changed while it was being saved.
    public static var assetFileModified: CKError.Code { .assetFileModified }
    /// The app is too old.
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }
    /// A unique field has that value already.
    public static var constraintViolation: CKError.Code { .constraintViolation }
    /// The operation was cancelled.
    public static var operationCancelled: CKError.Code { .operationCancelled }
    /// The change token is too old; fetch from the beginning.
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
    /// Another item of the same atomic request failed.
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
    /// The zone is busy; retry after the given seconds.
    public static var zoneBusy: CKError.Code { .zoneBusy }
    /// The database does not support the request.
    public static var badDatabase: CKError.Code { .badDatabase }
    /// The storage is full.
    public static var quotaExceeded: CKError.Code { .quotaExceeded }
    /// The zone does not exist.
    public static var zoneNotFound: CKError.Code { .zoneNotFound }
    /// The request or an item is too large.
    public static var limitExceeded: CKError.Code { .limitExceeded }
    /// The user deleted the zone in the settings.
    public static var userDeletedZone: CKError.Code { .userDeletedZone }
    /// The share has too many participants.
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }
    /// The record is part of another share.
    public static var alreadyShared: CKError.Code { .alreadyShared }
    /// The target of a parent or share reference is missing.
    public static var referenceViolation: CKError.Code { .referenceViolation }
    /// The account's administrator forbids this.
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }
    /// The user must verify that they are a participant.
    public static var participantMayNeedVerification: CKError.Code {
        .participantMayNeedVerification
    }
    /// The response was lost; the request may have taken effect.
    public static var serverResponseLost: CKError.Code { .serverResponseLost }
    /// The file of an asset cannot be read now.
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
    /// The account cannot be used until the user acts.
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
    /// The participant is invited already.
    @available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}

extension CKError.Code {
    /// Returns whether an error is a `CKError` with this code, for `catch`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? CKError)?.code == code
    }
}
