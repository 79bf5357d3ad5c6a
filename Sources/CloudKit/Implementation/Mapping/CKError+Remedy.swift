import CloudKitWebClient
import Foundation

extension CKError {
    /// What a log gets: the code, what went wrong, for which items, when to try again, what to do.
    var logText: String {
        var parts = ["\(code) (\(errorCode))", localizedDescription]
        if let items = partialErrorsByItemID { parts += Self.summary(of: items) }
        if let retryAfterSeconds { parts.append("retry after \(retryAfterSeconds) s") }
        parts.append("what to do: \(remedy)")
        return "<CKError: \(parts.joined(separator: "; "))>"
    }

    /// What to do about the error; what underlies it may know better than its code.
    private var remedy: String {
        switch (userInfo[NSUnderlyingErrorKey] as? TransportError)?.code {
        case .untrusted: "make the certificates agree; nothing was sent"
        default: code.remedy
        }
    }

    /// The first few items that failed, each with its code and message.
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
    /// What to do about an error, in general.
    var remedy: String {
        switch self {
        case .internalError, .serverRejectedRequest:
            "do not repeat the request as it is; look at the underlying error and the server's log"
        case .partialFailure: "handle each item's error in partialErrorsByItemID"
        case .networkUnavailable: "try again when there is a network; check the server's address"
        case .networkFailure: "try again; a save may have been carried out"
        case .badContainer: "check the container's name, and what says where its service is"
        case .serviceUnavailable, .requestRateLimited, .zoneBusy:
            "wait as long as retryAfterSeconds says, or some seconds, and try again"
        case .missingEntitlement: "use credentials that are made for this container"
        case .notAuthenticated: "have the user sign in, or use a token that is good"
        case .permissionFailure: "act as a user who may do this, or have the owner allow it"
        case .unknownItem: "treat the item as deleted, or save it as a new one"
        case .invalidArguments, .badDatabase: "correct the request as the message says"
        case .resultsTruncated: "ask for fewer items at once"
        case .serverRecordChanged: "put the values to keep onto serverRecord, and save that"
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            "see that the file is there and stays as it is, and try again"
        case .incompatibleVersion: "update the app"
        case .constraintViolation: "give the field a value that no other record has"
        case .operationCancelled: "nothing, unless the work is still wanted"
        case .changeTokenExpired: "fetch with a nil token, and replace what is kept locally"
        case .batchRequestFailed: "correct the item that has another code, and save all again"
        case .quotaExceeded: "delete what is not needed, or have the user get more room"
        case .zoneNotFound:
            "save the zone, and then its records without the change tags that they had"
        case .limitExceeded: "send fewer items at once, or smaller ones"
        case .userDeletedZone:
            "ask the user before anything is sent again; then save the zone, and its records"
        case .tooManyParticipants: "remove participants, or share with everybody who has the link"
        case .alreadyShared: "use the share that the record is in"
        case .referenceViolation:
            "save the target of the reference first; delete what refers to a record before it"
        case .managedAccountRestricted: "have whoever manages the account allow it"
        case .participantMayNeedVerification:
            "open the share's URL, so that the user can show that the invited address is theirs"
        case .serverResponseLost: "find out whether the request was carried out; if not, try again"
        case .accountTemporarilyUnavailable:
            "keep what is stored locally, and try again after CKAccountChanged"
        case .participantAlreadyInvited: "have the user accept the invitation"
        }
    }
}
