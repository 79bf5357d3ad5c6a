import CloudKitServerCore
import CloudKitWire

/// A credential in a server's data, in the output of `--json`.
struct CredentialEntry: Codable, Hashable, Sendable {
    let id: String
    let kind: String
    let environment: String
    let userRecordName: String?
    let expires: Int64?

    init(_ credential: ServiceCredential) {
        id = credential.id
        kind = credential.kind.command
        environment = credential.environment.rawValue
        userRecordName = credential.userRecordName
        expires = credential.expires
    }

    /// The number of digits of an identifier that are printed, more than enough to identify it.
    private static let digits = 12

    /// Returns a table with a row for each credential.
    static func table(_ entries: [CredentialEntry]) -> Table {
        var table = Table("id", "kind", "environment", "user", "expires")
        for entry in entries {
            table.add([
                String(entry.id.prefix(digits)), entry.kind, entry.environment,
                entry.userRecordName ?? "", entry.expires.map(ValueText.date) ?? "",
            ])
        }
        return table
    }
}
