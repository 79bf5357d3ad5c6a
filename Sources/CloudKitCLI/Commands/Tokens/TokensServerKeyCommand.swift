import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// A command that registers a server-to-server key.
struct TokensServerKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-key",
        abstract: "Register a server-to-server key, which signs requests to the public database."
    )

    @Option(help: "The file of the private key, which is created if necessary.")
    var privateKeyFile: String

    @OptionGroup(title: "Data")
    var options: TokenOptions

    func run() async throws {
        typealias Name = ConnectionVariables.Name
        let service = try options.place.folder.open()
        let container = try await options.place.folder.containerName(service)
        let kind = try options.place.kind
        let keyID = try await service.addServerKey(
            publicKey: try publicKey(),
            container: container,
            environment: kind
        )
        try await options.write(
            [
                Name.url: options.url, Name.container: container, Name.environment: kind.rawValue,
                Name.keyID: keyID,
                Name.privateKeyFile: URL(fileURLWithPath: privateKeyFile).standardizedFileURL.path,
            ],
            new: [keyID],
            of: container,
            service
        )
    }

    /// Returns the public key in PEM form.
    private func publicKey() throws -> String {
        if !FileManager.default.fileExists(atPath: privateKeyFile) {
            try PrivateFile.write(ServerKey.makePrivateKeyPEM() + "\n", to: privateKeyFile)
            Console.say("Created the key \(privateKeyFile)")
        }
        do {
            let text = try String(contentsOfFile: privateKeyFile, encoding: .utf8)
            return try ServerKey(keyID: "", privateKeyPEM: text).publicKeyPEM
        } catch {
            throw CommandFailure(unusable: "\(privateKeyFile): \(error)")
        }
    }
}
