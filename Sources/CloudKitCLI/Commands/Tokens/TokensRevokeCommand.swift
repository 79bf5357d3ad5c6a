import ArgumentParser
import CloudKitServerCore
import Foundation

/// A command that revokes credentials of a local server.
struct TokensRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke credentials in a server's data, and print them.",
        discussion: """
            A credential is named by the identifier that cloudkit tokens list prints, by its own \
            text, or, for a server-to-server key, by CLOUDKIT_KEY_ID. If any name is unknown, \
            nothing is revoked. An API token is revoked with the sessions that were started with it; \
            a web auth token ends its session. A running server notices within 5 seconds.
            """
    )

    @Argument(
        help: """
            The credentials; - reads them from standard input, one per line, because every user of \
            the machine can see arguments.
            """
    )
    var credentials: [String]

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try folder.open()
        let container = try await folder.containerName(service)
        var ids: Set<String> = []
        for name in try names() {
            let found = try await service.credentials(meantBy: name, container: container)
            guard let one = found.first else {
                throw CommandFailure(
                    "\(Self.shown(name)) is no credential of \(container); cloudkit tokens list "
                        + "prints those that are"
                )
            }
            guard found.count == 1 else {
                throw CommandFailure(
                    "\(Self.shown(name)) begins \(found.count) identifiers; give more digits"
                )
            }
            ids.insert(one.id)
        }
        let revoked = try await service.revoke(ids, container: container)
        try output.write(revoked.map { .success(CredentialEntry($0)) }, CredentialEntry.table)
    }

    private func names() throws -> [String] {
        try credentials.flatMap { name in
            guard name == "-" else { return [name] }
            let input = try FileHandle.standardInput.readToEnd() ?? Data()
            return String(decoding: input, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                .map(String.init)
        }
    }

    /// Returns enough of a name to identify it, without revealing a secret.
    private static func shown(_ name: String) -> String {
        name.count <= 16 ? "'\(name)'" : "'\(name.prefix(12))…'"
    }
}
