/// Why a zone is gone, where no app deleted it.
///
/// An extension of this package's server, under `deletionReason`: in errors with the code
/// `ZONE_NOT_FOUND`, and in the zones of `changes/database` for a request with the query parameter
/// `deletionReasons=true`. What Apple's web services say of such zones is not documented.
public enum ZoneDeletionReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user deleted the app's data in the settings.
    case purged = "PURGED"
    /// The user reset the encrypted data, whose keys are lost.
    case encryptedDataReset = "ENCRYPTED_DATA_RESET"
    /// Something that this version does not know.
    case unknown = "UNKNOWN"

    /// Reads a reason.
    public init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        self = Self(rawValue: name) ?? .unknown
    }
}
