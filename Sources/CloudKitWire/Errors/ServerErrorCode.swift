/// A `serverErrorCode` of CloudKit Web Services.
///
/// An open set: a code that this version does not know is preserved.
public struct ServerErrorCode: RawRepresentable, Hashable, Sendable, Codable {
    /// The code on the wire, such as `CONFLICT`.
    public var rawValue: String

    /// Creates a code from its wire form.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The caller lacks access to the record, zone or database.
    public static let accessDenied = Self(rawValue: "ACCESS_DENIED")
    /// Another operation of the same atomic request failed.
    public static let atomicError = Self(rawValue: "ATOMIC_ERROR")
    /// The credentials were refused.
    public static let authenticationFailed = Self(rawValue: "AUTHENTICATION_FAILED")
    /// A user has to sign in; the error carries a `redirectURL`.
    public static let authenticationRequired = Self(rawValue: "AUTHENTICATION_REQUIRED")
    /// The request cannot be understood or is not allowed in this form.
    public static let badRequest = Self(rawValue: "BAD_REQUEST")
    /// The change token is too old or belongs to an earlier generation of the zone.
    public static let changeTokenExpired = Self(rawValue: "CHANGE_TOKEN_EXPIRED")
    /// The record's change tag is stale, or the record to create exists.
    public static let conflict = Self(rawValue: "CONFLICT")
    /// The item exists already.
    public static let exists = Self(rawValue: "EXISTS")
    /// The server failed.
    public static let internalError = Self(rawValue: "INTERNAL_ERROR")
    /// The record or the endpoint does not exist.
    public static let notFound = Self(rawValue: "NOT_FOUND")
    /// The storage quota is used up.
    public static let quotaExceeded = Self(rawValue: "QUOTA_EXCEEDED")
    /// Too many requests; retry after the given seconds.
    public static let throttled = Self(rawValue: "THROTTLED")
    /// The server cannot respond now; retry after the given seconds.
    public static let tryAgainLater = Self(rawValue: "TRY_AGAIN_LATER")
    /// A unique field has that value already.
    public static let uniqueFieldError = Self(rawValue: "UNIQUE_FIELD_ERROR")
    /// The target of a validating reference is missing, or still referenced.
    public static let validatingReferenceError = Self(rawValue: "VALIDATING_REFERENCE_ERROR")
    /// The zone is busy; retry after the given seconds.
    public static let zoneBusy = Self(rawValue: "ZONE_BUSY")
    /// The zone does not exist.
    public static let zoneNotFound = Self(rawValue: "ZONE_NOT_FOUND")

    /// The codes that this version knows.
    package static let known: [Self] = [
        .accessDenied, .atomicError, .authenticationFailed, .authenticationRequired, .badRequest,
        .changeTokenExpired, .conflict, .exists, .internalError, .notFound, .quotaExceeded,
        .throttled, .tryAgainLater, .uniqueFieldError, .validatingReferenceError, .zoneBusy,
        .zoneNotFound,
    ]

    /// The HTTP status of a whole-request error with this code ("Error Codes" in Apple's reference).
    ///
    /// Codes without a documented status use 400, which no client retries.
    public var httpStatus: Int {
        switch self {
        case .authenticationFailed: 401
        case .accessDenied: 403
        case .notFound, .zoneNotFound: 404
        case .conflict, .exists: 409
        case .validatingReferenceError: 412
        case .quotaExceeded: 413
        case .authenticationRequired: 421
        case .throttled: 429
        case .internalError: 500
        case .tryAgainLater, .zoneBusy: 503
        default: 400
        }
    }
}
