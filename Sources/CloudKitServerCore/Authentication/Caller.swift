/// The caller of a request, determined from its credentials.
struct Caller: Sendable {
    /// The kind of credential that the caller used.
    enum Credential: Hashable, Sendable {
        /// An API token alone, which identifies no user.
        case apiToken
        /// An API token and a user's web auth token.
        case webToken
        /// A server-to-server signature.
        case serverKey
    }

    var credential: Credential
    /// The user; nil for an API token alone.
    var user: StoredUser?
    /// The web auth token that was sent; the response carries the next one.
    var webToken: WebToken?
    /// The user's roles in the schema.
    var roles: Set<String> = []
}
