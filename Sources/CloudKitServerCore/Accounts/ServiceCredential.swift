import CloudKitBasics
public import CloudKitWire

/// A credential of a container as operators see it: without the secret, which only its holder has.
public struct ServiceCredential: Hashable, Sendable {
    /// The credential's identifier: 64 hexadecimal digits, the hash under which the secret is stored.
    public var id: String
    /// The kind of credential.
    public var kind: StoredCredential.Kind
    /// The environment in which it is valid.
    public var environment: ServiceEnvironment
    /// The record name of the user that it acts for; `nil` for an API token.
    public var userRecordName: String?
    /// The expiration time in milliseconds since 1970-01-01 UTC; `nil` if it never expires.
    public var expires: Int64?
    /// The API token with which a session was started.
    var apiToken: String?

    /// Creates a credential from a stored row.
    init(_ row: StoredCredential, _ environment: ServiceEnvironment, _ user: StoredUser?) {
        id = Hexadecimal.text(row.hash)
        kind = row.kind
        self.environment = environment
        userRecordName = user?.recordName
        expires = row.expires
        apiToken = row.kind == .webToken ? row.companion.map { Hexadecimal.text($0) } : nil
    }
}

extension StoredCredential.Kind {
    /// The name of the subcommand of `cloudkit tokens` that creates such a credential.
    package var command: String {
        switch self {
        case .apiToken: "api"
        case .webToken: "web-auth"
        case .serverKey: "server-key"
        }
    }
}
