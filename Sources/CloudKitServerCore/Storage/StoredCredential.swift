#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An API token, a web auth token or a server-to-server key.
///
/// Secrets are kept as SHA-256 hashes only.
public struct StoredCredential: Hashable, Sendable {
    /// What the credential is.
    public enum Kind: Int64, Hashable, Sendable {
        /// Names the container and its environment.
        case apiToken = 1
        /// Names a user, together with the API token it was made through.
        case webToken = 2
        /// Names a key; `secret` is its public half.
        case serverKey = 3
    }

    /// What the credential is.
    public var kind: Kind
    /// SHA-256 of the token or of the key's identifier.
    public var hash: Data
    /// The environment it is good for.
    public var environment: RowID<StoredEnvironment>
    /// The user it acts for; nil for an API token.
    public var user: RowID<StoredUser>?
    /// The hash of the API token that a web auth token belongs to; a key's public half.
    public var companion: Data?
    /// Milliseconds since 1970-01-01 UTC after which it is refused; nil for never.
    public var expires: Int64?

    /// Makes a row.
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
