/// An element of a 2xx response that represents a failed item (a record, a zone, a subscription).
public struct ItemError: Error, Hashable, Sendable, Codable {
    /// The name of the failed record, in responses about records.
    public var recordName: String?
    /// The ID of the failed zone, in responses about zones.
    public var zoneID: WireZoneID?
    /// The name of the failed subscription, in responses about subscriptions.
    public var subscriptionID: String?
    /// The error's description for people, which names the item.
    public var reason: String?
    /// The error's code.
    public var serverErrorCode: ServerErrorCode
    /// The number of seconds to wait before a retry; nil when a retry is pointless.
    public var retryAfter: Double?
    /// The ID of the failed request in the server's log.
    public var uuid: String?
    /// The address where the user signs in, with `AUTHENTICATION_REQUIRED`.
    public var redirectURL: String?
    /// The number of a `NativeErrorCode`, known or not.
    public var nativeErrorCode: Int?
    /// The reason for the zone's deletion, with `ZONE_NOT_FOUND`.
    public var deletionReason: ZoneDeletionReason?

    /// Creates an error about one item.
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

    /// Creates the error of a zone from the error that its request failed with.
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
    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case recordName, zoneID, subscriptionID, reason, serverErrorCode, retryAfter, uuid
        case redirectURL, nativeErrorCode, deletionReason
    }

    /// Creates an error by decoding: the members of a request's error, and the failed item.
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
    /// A mirror without the sign-in address, because that contains the app's token.
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
