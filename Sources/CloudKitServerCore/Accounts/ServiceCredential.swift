import CloudKitBasics
public import CloudKitWire

/// A credential of a container, as administration knows one: without the secret, which only its holder
/// has.
public struct ServiceCredential: Hashable, Sendable {
    /// Tells credentials apart: 64 hexadecimal digits, the hash under which the secret is stored.
    public var id: String
    /// What the credential is.
    public var kind: StoredCredential.Kind
    /// The environment it is good for.
    public var environment: ServiceEnvironment
    /// The record name of the user it acts for; nil for an API token.
    public var userRecordName: String?
    /// Milliseconds since 1970-01-01 UTC after which it is refused; nil for never.
    public var expires: Int64?
    /// The API token that a session was begun with.
    var apiToken: String?

    /// Makes a credential from a stored row.
    init(_ row: StoredCredential, _ environment: ServiceEnvironment, _ user: StoredUser?) {
        id = Hexadecimal.text(row.hash)
        kind = row.kind
        self.environment = environment
        userRecordName = user?.recordName
        expires = row.expires
        apiToken = row.kind == .webToken ? row.companion.map { Hexadecimal.text($0) } : nil
    }
}
