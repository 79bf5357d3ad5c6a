#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An API token, a web auth token or a server-to-server key.
///
/// Secrets are stored only as SHA-256 hashes.
public struct StoredCredential: Hashable, Sendable {
    /// The kind of credential.
    public enum Kind: Int64, Hashable, Sendable {
        /// A token that identifies the container and its environment.
        case apiToken = 1
        /// A token that identifies a user, together with the API token with which it was created.
        case webToken = 2
        /// A key, whose public half is in `companion`.
        case serverKey = 3
    }

    /// The kind of credential.
    public var kind: Kind
    /// SHA-256 of the token or of the key's identifier.
    public var hash: Data
    /// The environment in which it is valid.
    public var environment: RowID<StoredEnvironment>
    /// The user that it acts for; `nil` for an API token.
    public var user: RowID<StoredUser>?
    /// The hash of the API token that a web auth token belongs to; a key's public half.
    public var companion: Data?
    /// The time, in milliseconds since 1970-01-01 UTC, after which it is refused; `nil` for never.
    public var expires: Int64?

    /// Creates a row.
    public init(
        kind: Kind,
        hash: Data,
        environment: RowID<StoredEnvironment>,
        user: RowID<StoredUser>? = nil,
        companion: Data? = nil,
        expires: Int64? = nil
    ) {
        self.kind = kind
        self.hash = hash
        self.environment = environment
        self.user = user
        self.companion = companion
        self.expires = expires
    }
}
