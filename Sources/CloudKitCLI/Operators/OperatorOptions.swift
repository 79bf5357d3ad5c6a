import ArgumentParser
import CloudKitWebClient
import Foundation

/// The running server that a command operates, and the key to its routes for operators.
struct OperatorOptions: ParsableArguments {
    /// The variable with the key.
    static let keyVariable = "CLOUDKIT_ADMIN_KEY"

    @Option(help: "The server's address; CLOUDKIT_URL, or http://127.0.0.1:8787.")
    var url: String?

    @Option(help: "A file with the key for operators; CLOUDKIT_ADMIN_KEY.")
    var adminKeyFile: String?

    /// Returns the server, whose existence is not checked.
    ///
    /// - Throws: `CommandFailure` without a key, or for an unusable address.
    func server() throws -> OperatedServer {
        let variables = ProcessInfo.processInfo.environment
        let url = url ?? variables[ConnectionVariables.Name.url] ?? "http://127.0.0.1:8787"
        // The address is not printed, because it may contain a password.
        guard ConnectionOptions.isAddress(url) else {
            throw CommandFailure(
                unusable: "--url or CLOUDKIT_URL is not an address, which has a scheme and a host, "
                    + "such as http://127.0.0.1:8787"
            )
        }
        let key =
            try adminKeyFile.map(ServeOptions.key)
            ?? variables[Self.keyVariable]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard !key.isEmpty else {
            throw CommandFailure(
                unusable: "\(Self.keyVariable) is not set; source the file operator.env that "
                    + "cloudkit serve wrote into its folder, or give --admin-key-file"
            )
        }
        // The key is not printed, and a request cannot carry it.
        guard Self.isKey(key) else {
            throw CommandFailure(
                unusable: "\(Self.keyVariable) is not a key: it has a line break or another "
                    + "character beyond ASCII; source the file operator.env again"
            )
        }
        return OperatedServer(url: url.hasSuffix("/") ? String(url.dropLast()) : url, key: key)
    }

    /// Returns whether a request can carry a text as its key.
    static func isKey(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Returns the settings with which commands find a server and its key.
    static func settings(url: String, container: String?, key: String) -> ConnectionFile {
        ConnectionFile([
            ConnectionVariables.Name.url: url, ConnectionVariables.Name.container: container,
            keyVariable: key,
        ])
    }
}
