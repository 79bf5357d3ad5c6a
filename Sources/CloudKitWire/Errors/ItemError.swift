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
        self.init(error)
        self.zoneID = zoneID
    }

    private init(_ error: RequestError) {
        reason = error.reason
        serverErrorCode = error.serverErrorCode
        retryAfter = error.retryAfter
        uuid = error.uuid
        redirectURL = error.redirectURL
        nativeErrorCode = error.nativeErrorCode
        deletionReason = error.deletionReason
    }
}

extension ItemError {
    private enum CodingKeys: CodingKey {
        case recordName, zoneID, subscriptionID, reason, serverErrorCode, retryAfter, uuid
        case redirectURL, nativeErrorCode, deletionReason
    }

    /// Reads an error, which is that of a request and the item besides.
    public init(from decoder: any Decoder) throws {
        self.init(try RequestError(from: decoder))
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let clean = decoder.errorText
        recordName = try clean.name(container, .recordName)
        zoneID = try clean.zone(container, .zoneID)
        subscriptionID = try clean.name(container, .subscriptionID)
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
