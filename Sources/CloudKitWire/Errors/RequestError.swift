/// The body of a response whose status is not 2xx: the whole request failed.
public struct RequestError: Error, Hashable, Sendable, Codable {
    /// The ID of the failed request in the server's log.
    public var uuid: String?
    /// The error's code.
    public var serverErrorCode: ServerErrorCode
    /// The error's description for people, which names the item.
    public var reason: String?
    /// The number of seconds to wait before a retry; nil when a retry is pointless.
    public var retryAfter: Double?
    /// The address where the user signs in, with `AUTHENTICATION_REQUIRED`.
    public var redirectURL: String?
    /// The number of a `NativeErrorCode`, known or not.
    public var nativeErrorCode: Int?
    /// The reason for the zone's deletion, with `ZONE_NOT_FOUND`.
    public var deletionReason: ZoneDeletionReason?

    /// Creates an error that is not yet tied to a request.
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
    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case uuid, serverErrorCode, reason, retryAfter, redirectURL, nativeErrorCode
        case deletionReason
    }

    /// Creates an error by decoding; limits the wait to a sensible one.
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
    /// A mirror without the sign-in address, because that contains the app's token.
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

/// The limits of a wait that a server requests.
public enum RetryAfter {
    /// The maximum number of seconds that a server can make a client wait, because an intermediary
    /// such as a proxy speaks in the service's name and does not know its plans.
    public static let longest: Double = 3600

    /// Returns the seconds to wait; negative values become 0, and nil stays nil.
    public static func seconds(_ requested: Double?) -> Double? {
        guard let requested, !requested.isNaN else { return nil }
        return min(max(requested, 0), longest)
    }
}
