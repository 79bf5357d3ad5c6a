/// Who makes a request, found out from its credentials.
struct Caller: Sendable {
    /// How the caller proved who it is.
    enum Credential: Hashable, Sendable {
        /// An API token alone: anyone.
        case apiToken
        /// An API token and a user's web auth token.
        case webToken
        /// A server-to-server signature.
        case serverKey
    }

    var credential: Credential
    /// The user; nil for an API token alone.
    var user: StoredUser?
    /// The web auth token that was sent; its answer carries the next one.
    var webToken: WebToken?
    /// The roles of the schema that the user was given.
    var roles: Set<String> = []
}
