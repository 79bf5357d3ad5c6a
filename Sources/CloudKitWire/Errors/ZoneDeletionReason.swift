/// The reason for a zone's deletion, unless an app deleted it.
///
/// An extension of this package's server, under `deletionReason`: in errors with the code
/// `ZONE_NOT_FOUND`, and in the zones of `changes/database` for a request with the query parameter
/// `deletionReasons=true`. The responses of Apple's web services about these zones are not
/// documented.
public enum ZoneDeletionReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user deleted the app's data in the settings.
    case purged = "PURGED"
    /// The user reset the encrypted data, whose keys are lost.
    case encryptedDataReset = "ENCRYPTED_DATA_RESET"
    /// A reason that this version does not know.
    case unknown = "UNKNOWN"

    /// Creates a reason by decoding.
    public init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        self = Self(rawValue: name) ?? .unknown
    }
}
