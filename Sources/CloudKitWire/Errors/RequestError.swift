/// The body of a response whose status is not 2xx: the whole request failed.
public struct RequestError: Error, Hashable, Sendable, Codable {
    /// Identifies the failed request in the server's log.
    public var uuid: String?
    /// What went wrong, for programs.
    public var serverErrorCode: ServerErrorCode
    /// What went wrong, for people; names the item.
    public var reason: String?
    /// Seconds to wait before a retry; nil where a retry makes no sense.
    public var retryAfter: Double?
    /// Where the user signs in, with `AUTHENTICATION_REQUIRED`.
    public var redirectURL: String?
    /// The number of a `NativeErrorCode`, known or not.
    public var nativeErrorCode: Int?
    /// Why the zone is gone, with `ZONE_NOT_FOUND`.
    public var deletionReason: ZoneDeletionReason?

    /// Makes an error that is not yet tied to a request.
    public init(
        _ serverErrorCode: ServerErrorCode,
        reason: String?,
        retryAfter: Double? = nil,
        redirectURL: String? = nil,
        uuid: String? = nil,
        nativeErrorCode: NativeErrorCode? = nil,
        deletionReason: ZoneDeletionReason? = nil
    ) {
        self.uuid = uuid
        self.serverErrorCode = serverErrorCode
        self.reason = reason
        self.retryAfter = retryAfter
        self.redirectURL = redirectURL
        self.nativeErrorCode = nativeErrorCode?.rawValue
        self.deletionReason = deletionReason
    }
}

extension RequestError {
    private enum CodingKeys: CodingKey {
        case uuid, serverErrorCode, reason, retryAfter, redirectURL, nativeErrorCode
        case deletionReason
    }

    /// Reads an error; a wait that nobody would live to see the end of is cut.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let clean = decoder.errorText
        uuid = try clean.text(container, .uuid)
        serverErrorCode = try clean.code(container, .serverErrorCode)
        reason = try clean.text(container, .reason)
        retryAfter = RetryAfter.seconds(
            try container.decodeIfPresent(Double.self, forKey: .retryAfter)
        )
        redirectURL = try clean.link(container, .redirectURL)
        nativeErrorCode = try container.decodeIfPresent(Int.self, forKey: .nativeErrorCode)
        deletionReason = try container.decodeIfPresent(
            ZoneDeletionReason.self,
            forKey: .deletionReason
        )
    }
}

extension RequestError: CustomReflectable {
    /// A mirror in which the address of the sign-in is not told: it holds the app's token.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "uuid": uuid as Any, "serverErrorCode": serverErrorCode, "reason": reason as Any,
                "retryAfter": retryAfter as Any, "hasRedirectURL": redirectURL != nil,
                "nativeErrorCode": nativeErrorCode as Any,
                "deletionReason": deletionReason as Any,
            ],
            displayStyle: .struct
        )
    }
}
