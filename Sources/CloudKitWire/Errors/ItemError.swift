/// An element of a 2xx response that stands for a failed item (a record, a zone, a subscription).
public struct ItemError: Error, Hashable, Sendable, Codable {
    /// The record that failed, in answers about records.
    public var recordName: String?
    /// The zone that failed, in answers about zones.
    public var zoneID: WireZoneID?
    /// The subscription that failed, in answers about subscriptions.
    public var subscriptionID: String?
    /// What went wrong, for people; names the item.
    public var reason: String?
    /// What went wrong, for programs.
    public var serverErrorCode: ServerErrorCode
    /// Seconds to wait before a retry; nil where a retry makes no sense.
    public var retryAfter: Double?
    /// Identifies the failed request in the server's log.
    public var uuid: String?
    /// Where the user signs in, with `AUTHENTICATION_REQUIRED`.
    public var redirectURL: String?
    /// The number of a `NativeErrorCode`, known or not.
    public var nativeErrorCode: Int?
    /// Why the zone is gone, with `ZONE_NOT_FOUND`.
    public var deletionReason: ZoneDeletionReason?

    /// Makes an error about one item.
    public init(
        _ serverErrorCode: ServerErrorCode,
        reason: String?,
        recordName: String? = nil,
        zoneID: WireZoneID? = nil,
        subscriptionID: String? = nil,
        retryAfter: Double? = nil,
        nativeErrorCode: NativeErrorCode? = nil,
        deletionReason: ZoneDeletionReason? = nil
    ) {
        self.serverErrorCode = serverErrorCode
        self.reason = reason
        self.recordName = recordName
        self.zoneID = zoneID
        self.subscriptionID = subscriptionID
        self.retryAfter = retryAfter
        self.nativeErrorCode = nativeErrorCode?.rawValue
        self.deletionReason = deletionReason
    }

    /// Makes what fails a request the error of one of its zones.
    public init(_ error: RequestError, zoneID: WireZoneID) {
        self.init(
            error.serverErrorCode,
            reason: error.reason,
            zoneID: zoneID,
            retryAfter: error.retryAfter,
            deletionReason: error.deletionReason
        )
        nativeErrorCode = error.nativeErrorCode
    }
}

extension ItemError {
    private enum CodingKeys: CodingKey {
        case recordName, zoneID, subscriptionID, reason, serverErrorCode, retryAfter, uuid
        case redirectURL, nativeErrorCode, deletionReason
    }

    /// Reads an error; a wait that nobody would live to see the end of is cut.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let clean = decoder.errorText
        recordName = try clean.name(container, .recordName)
        zoneID = try clean.zone(container, .zoneID)
        subscriptionID = try clean.name(container, .subscriptionID)
        reason = try clean.text(container, .reason)
        serverErrorCode = try clean.code(container, .serverErrorCode)
        retryAfter = RetryAfter.seconds(
            try container.decodeIfPresent(Double.self, forKey: .retryAfter)
        )
        uuid = try clean.text(container, .uuid)
        redirectURL = try clean.link(container, .redirectURL)
        nativeErrorCode = try container.decodeIfPresent(Int.self, forKey: .nativeErrorCode)
        deletionReason = try container.decodeIfPresent(
            ZoneDeletionReason.self,
            forKey: .deletionReason
        )
    }
}

extension ItemError: CustomReflectable {
    /// A mirror in which the address of the sign-in is not told: it holds the app's token.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "recordName": recordName as Any, "zoneID": zoneID as Any,
                "subscriptionID": subscriptionID as Any, "reason": reason as Any,
                "serverErrorCode": serverErrorCode, "retryAfter": retryAfter as Any,
                "uuid": uuid as Any, "hasRedirectURL": redirectURL != nil,
                "nativeErrorCode": nativeErrorCode as Any,
                "deletionReason": deletionReason as Any,
            ],
            displayStyle: .struct
        )
    }
}
