import CloudKitWebClient
import Foundation

extension CKError {
    /// The text for logs: the code, the message, the failed items, the time to retry and the
    /// remedy.
    var logText: String {
        var parts = ["\(code) (\(errorCode))", localizedDescription]
        if let items = partialErrorsByItemID { parts += Self.summary(of: items) }
        if let retryAfterSeconds { parts.append("retry after \(retryAfterSeconds) s") }
        parts.append("what to do: \(remedy)")
        return "<CKError: \(parts.joined(separator: "; "))>"
    }

    /// The remedy for the error; the underlying error may have a better one than the code.
    private var remedy: String {
        switch (userInfo[NSUnderlyingErrorKey] as? TransportError)?.code {
        case .untrusted: "make the certificates agree; nothing was sent"
        default: code.remedy
        }
    }

    /// Returns the first few failed items, each with its code and message.
    private static func summary(of items: [AnyHashable: any Error]) -> [String] {
        let shown = 3
        let texts = items.map { item, error in
            guard let error = error as? CKError else { return "\(item): \(error)" }
            return "\(item): \(error.code) (\(error.errorCode)), \(error.localizedDescription)"
        }
        let rest = texts.count > shown ? ["and \(texts.count - shown) more"] : []
        return texts.sorted().prefix(shown) + rest
    }
}

extension CKError.Code {
    /// The general remedy for a code.
    var remedy: String {
        switch self {
        case .internalError, .serverRejectedRequest:
            "do not retry the request unchanged; look at the underlying error and the server's log"
        case .partialFailure: "handle each item's error in partialErrorsByItemID"
        case .networkUnavailable: "try again when there is a network; check the server's address"
        case .networkFailure: "retry; a save may have taken effect"
        case .badContainer: "check the container's name and its service's settings"
        case .serviceUnavailable, .requestRateLimited, .zoneBusy:
            "wait as long as retryAfterSeconds says, or some seconds, and try again"
        case .missingEntitlement: "use credentials of this container"
        case .notAuthenticated: "have the user sign in, or use a valid token"
        case .permissionFailure: "act as a user who may do this, or have the owner allow it"
        case .unknownItem: "treat the item as deleted, or save it as a new one"
        case .invalidArguments, .badDatabase: "correct the request as the message says"
        case .resultsTruncated: "request fewer items"
        case .serverRecordChanged: "copy the values to keep to serverRecord, and save that"
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            "make sure that the file exists and does not change, and retry"
        case .incompatibleVersion: "update the app"
        case .constraintViolation: "give the field a value that no other record has"
        case .operationCancelled: "nothing, or run the operation again"
        case .changeTokenExpired: "fetch with a nil token, and replace the local data"
        case .batchRequestFailed: "correct the item that has another code, and save all again"
        case .quotaExceeded: "delete unneeded data, or have the user get more storage"
        case .zoneNotFound:
            "save the zone, and then its records without the change tags that they had"
        case .limitExceeded: "send fewer or smaller items"
        case .userDeletedZone:
            "ask the user before anything is sent again; then save the zone, and its records"
        case .tooManyParticipants: "remove participants, or share with everybody who has the link"
        case .alreadyShared: "use the share that the record is in"
        case .referenceViolation:
            "save a reference's target first; delete referring records before their target"
        case .managedAccountRestricted: "have the account's administrator allow it"
        case .participantMayNeedVerification:
            "open the share's URL, so that the user can show that the invited address is theirs"
        case .serverResponseLost: "check whether the request took effect; if not, retry"
        case .accountTemporarilyUnavailable:
            "keep the local data, and retry after CKAccountChanged"
        case .participantAlreadyInvited: "have the user accept the invitation"
        }
    }
}
