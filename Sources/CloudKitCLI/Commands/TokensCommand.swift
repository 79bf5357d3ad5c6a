import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// A command that creates and revokes credentials for a local server.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Create, list and revoke credentials in a server's data.",
        discussion: """
            The server may be running. It stores only hashes, so a new credential is printed once \
            and cannot be shown again.
            """,
        subcommands: [
            TokensAPICommand.self, TokensWebAuthCommand.self, TokensServerKeyCommand.self,
            TokensListCommand.self, TokensRevokeCommand.self,
        ]
    )
}

/// A command that creates an API token.
struct TokensAPICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Create an API token, which names a container and an environment."
    )

    @OptionGroup(title: "Data")
    var options: TokenOptions

    func run() async throws {
        typealias Name = ConnectionVariables.Name
        let service = try await options.place.folder.openForWriting()
        let container = try await options.place.folder.containerName(service)
        let kind = try options.place.kind
        let token = try await service.addAPIToken(container: container, environment: kind)
        try await options.write(
            [
                Name.url: options.url, Name.container: container, Name.environment: kind.rawValue,
                Name.apiToken: token,
            ],
            new: [token],
            of: container,
            service
        )
    }
}

/// A command that signs a user in.
struct TokensWebAuthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-auth",
        abstract: "Create a web auth token, with which a client acts for a user."
    )

    @Option(help: .user)
    var user: String

    @Option(help: "The API token that the client uses with it; a new one by default.")
    var apiToken: String?

    @OptionGroup(title: "Data")
    var options: TokenOptions

    func run() async throws {
        typealias Name = ConnectionVariables.Name
        let service = try await options.place.folder.openForWriting()
        let container = try await options.place.folder.containerName(service)
        let kind = try options.place.kind
        let user = try await service.user(self.user, in: container)
        let companion =
            if let apiToken {
                apiToken
            } else {
                try await service.addAPIToken(container: container, environment: kind)
            }
        let token = try await service.addWebAuthToken(
            user: user,
            apiToken: companion,
            environment: kind
        )
        try await options.write(
            [
                Name.url: options.url, Name.container: container, Name.environment: kind.rawValue,
                Name.apiToken: companion, Name.webAuthToken: token,
            ],
            new: apiToken == nil ? [companion, token] : [token],
            of: container,
            service
        )
    }
}

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
        let service = try await options.place.folder.openForWriting()
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

/// A command that prints the credentials of a local server.
struct TokensListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the credentials in a server's data, without their secrets."
    )

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try await folder.open()
        let container = try await folder.containerName(service)
        let credentials = try await service.credentials(container: container)
        try output.write(
            credentials.map { .success(CredentialEntry($0)) },
            CredentialEntry.table
        )
    }
}

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
        let service = try await folder.openForWriting()
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

/// The options for new credentials and their output.
struct TokenOptions: ParsableArguments {
    @OptionGroup
    var place: EnvironmentOptions

    @Option(help: "The server's address, as the settings name it.")
    var url = "http://127.0.0.1:8787"

    @Option(name: .customLong("output"), help: "A file for the settings, readable by you only.")
    var file: String?

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard ConnectionOptions.isAddress(url) else {
            throw ValidationError(
                "--url '\(url)' is not an address, which has a scheme and a host, such as "
                    + "http://127.0.0.1:8787"
            )
        }
        if let file, let problem = overwriting.problem(with: file) {
            throw ValidationError(problem)
        }
    }

    /// Prints or writes settings; if that fails, the new credentials in them are revoked, because
    /// nobody knows them.
    func write(
        _ settings: KeyValuePairs<String, String?>,
        new credentials: [String],
        of container: String,
        _ service: CloudService
    ) async throws {
        do {
            try ConnectionFile(settings).write(to: file, output)
        } catch {
            var ids: Set<String> = []
            for text in credentials {
                let found = try await service.credentials(meantBy: text, container: container)
                ids.formUnion(found.map(\.id))
            }
            try await service.revoke(ids, container: container)
            throw error
        }
    }
}
