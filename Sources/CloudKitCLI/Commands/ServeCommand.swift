import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// A command that runs a server until it is stopped.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a CloudKit server.",
        discussion: """
            The server listens on this machine only, keeps its data in a folder, and prints how to \
            reach it. A write is on the disk before its response is sent. With --database, several \
            servers share one PostgreSQL database.

            Each option can also be set by a variable or in a file: --max-connections 500 is \
            CLOUDKIT_SERVE_MAX_CONNECTIONS=500 in the environment and "max-connections": 500 in the \
            JSON object of --config. The command line overrides the environment, the environment the \
            file, and the file the default.
            """
    )

    @OptionGroup(title: "Address and limits")
    var serve: ServeOptions

    @OptionGroup(title: "Users and behavior")
    var options: ServerOptions

    @Option(help: "A file with settings; CLOUDKIT_SERVE_CONFIG.")
    var config: String?

    @Flag(help: "Print each setting and its source, and do not start.")
    var printConfig = false

    /// The name of the only setting that is not in the file.
    private static let fileSetting = "config"

    func run() async throws {
        Allocator.returnLargeBlocks()
        let variables = ProcessInfo.processInfo.environment
        let path = config ?? variables[ServerSettings.variable(Self.fileSetting)]
        var settings = ServerSettings(
            variables: variables,
            file: try path.map(SettingsFile.init)
        )
        var choice = try options.choice(from: &settings)
        let own = try serve.read(from: &settings, into: &choice.configuration)
        try settings.checkNames(besides: [Self.fileSetting])
        if own.database != nil, choice.namesUsers, !choice.users.isEmpty {
            throw CommandFailure(
                unusable:
                    "\(settings.place("user")): a server on a database has no folder for the files of users; add "
                    + "them with cloudkit users add, and sign them in with cloudkit tokens web-auth"
            )
        }
        choice.configuration.version = PackageVersion.current
        choice.configuration.holdsRequests = true
        let server: CloudServer
        do {
            if printConfig {
                try choice.configuration.check()
                return try Self.print(settings.entries)
            }
            try await Self.open(own, &choice.configuration)
            server = try CloudServer(configuration: choice.configuration, logger: own.logger)
        } catch let error as ServerConfigurationError {
            throw CommandFailure(unusable: error.description)
        }
        let container = try await Self.container(choice, server.service, own)
        try await run(server, choice, own, container)
    }

    /// Connects to the database, and refuses assets that belong to other data.
    private static func open(
        _ own: ServeOptions.Choice,
        _ configuration: inout CloudServer.Configuration
    ) async throws {
        if let database = own.database {
            var settings = database.settings
            settings.noteReach = { [logger = own.logger] in Self.log($0, to: logger) }
            let storages = try await database.place.open(makes: true, settings)
            configuration.storage = storages.data
            if let assets = configuration.assets {
                let isNew = try await AssetsNote(storage: storages.data).location() == nil
                try await AssetLocation.check(assets, isNew: isNew, own.name)
            } else {
                configuration.assets = storages.ownAssets
            }
        } else if let data = own.data, let assets = configuration.assets {
            let isNew = try !DataFolder(path: data).hasDatabase()
            try await AssetLocation.check(assets, isNew: isNew, data)
        }
    }

    /// Logs that the database cannot be reached, or that it can again.
    private static func log(_ reach: DatabaseReach, to logger: Logger) {
        switch reach {
        case .lost(let reason):
            logger.error(
                "Database cannot be reached",
                metadata: [
                    "error": "\(reason)",
                    "remedy":
                        "requests wait and then fail until PostgreSQL accepts connections again",
                ]
            )
        case .regained(let seconds):
            // Whoever has read the line above has to know that it is over.
            logger.warning("Database can be reached again", metadata: ["seconds": "\(seconds)"])
        }
    }

    private func run(
        _ server: CloudServer,
        _ choice: ServerOptions.Choice,
        _ own: ServeOptions.Choice,
        _ container: String?
    ) async throws {
        var group = ServiceGroupConfiguration(
            services: [server],
            gracefulShutdownSignals: StopSignals.ofServer(),
            logger: own.logger
        )
        group.maximumGracefulShutdownDuration = .seconds(own.stopSeconds)
        let services = ServiceGroup(configuration: group)
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            do {
                try await start(server, choice, own, container)
            } catch {
                // Cancelled instead, the services would log errors that nobody can do anything about.
                await services.triggerGracefulShutdown()
                server.acceptRequests()
                // The error below is the one to report.
                try? await group.waitForAll()
                throw error
            }
            try await group.waitForAll()
        }
    }

    /// Waits until the server listens, and says how to reach it.
    private func start(
        _ server: CloudServer,
        _ choice: ServerOptions.Choice,
        _ own: ServeOptions.Choice,
        _ container: String?
    ) async throws {
        let url = try await server.url()
        var lines: [String]
        if let data = own.data, let container {
            lines = try await startOnFolder(data, server, choice, own, container, at: url)
        } else {
            lines = try await Self.startOnDatabase(server, own, container, at: url)
        }
        if own.hasKeyFile, server.administrationKey != nil {
            let page = Self.dashboard(at: choice.configuration.baseURL ?? url, container, key: nil)
            lines.append("To see what happens, with the key of the file:  \(page)")
        }
        do {
            try Console.write(lines.joined(separator: "\n"))
        } catch let failure as CommandFailure {
            let problem = failure.message ?? "Nobody reads standard output"
            Console.say("\(problem); the server at \(url) goes on")
        }
    }

    /// Writes the files for the clients of a server on a folder, and returns what is printed first.
    private func startOnFolder(
        _ data: String,
        _ server: CloudServer,
        _ choice: ServerOptions.Choice,
        _ own: ServeOptions.Choice,
        _ container: String,
        at url: String
    ) async throws -> [String] {
        let files = AccessFiles(directory: data)
        let access = try await ServerAccess(
            server.service,
            url: choice.configuration.baseURL ?? url,
            container: container,
            apiToken: files.apiToken(of: container, server.service),
            users: Self.users(choice, files, server.service, container)
        )
        let key = own.hasKeyFile ? nil : server.administrationKey
        let operators = try key.map {
            try files.write(OperatorOptions.settings(url: url, container: container, key: $0))
        }
        let written = try await files.write(access, server.service)
        server.acceptRequests()
        if choice.configuration.baseURL == nil,
            ["0.0.0.0", "::"].contains(choice.configuration.host)
        {
            Console.say(
                "The files for clients name \(url), which is no address of a server for other machines; "
                    + "give theirs with --public-url"
            )
        }
        var lines = Self.greeting(access, written, at: url)
        if let key, let operators {
            let page = Self.dashboard(at: url, container, key: key)
            lines.append("To see what happens:  \(page)")
            lines.append("To operate it, until it stops:  source \(operators.relativePath)")
        }
        return lines
    }

    /// Adds the named container to a database that lacks it, and returns what is printed first.
    private static func startOnDatabase(
        _ server: CloudServer,
        _ own: ServeOptions.Choice,
        _ container: String?,
        at url: String
    ) async throws -> [String] {
        if let container { try await server.service.addContainer(container) }
        let containers = try await server.service.containers()
        server.acceptRequests()
        let names = containers.isEmpty ? "no container yet" : containers.joined(separator: ", ")
        var lines = [
            "Serving \(names) at \(url). Stop with Ctrl-C.", "The data is in \(own.name).",
        ]
        if !own.hasKeyFile, let key = server.administrationKey {
            let settings = OperatorOptions.settings(url: url, container: container, key: key)
            lines.append("To see what happens:  \(dashboard(at: url, container, key: key))")
            lines.append(
                "To operate it, until it stops:  "
                    + settings.text.replacing("\n", with: "; ")
            )
        }
        return lines
    }

    private static func print(_ entries: [ServerSettings.Entry]) throws {
        var table = Table("setting", "value", "from")
        for entry in entries { table.add([entry.name, entry.value, entry.source]) }
        try Console.write(table)
    }

    /// Returns the container to serve: the named one, the folder's, or a new one; nil for all of a database.
    private static func container(
        _ choice: ServerOptions.Choice,
        _ service: CloudService,
        _ own: ServeOptions.Choice
    ) async throws -> String? {
        let found = try await service.containers()
        let list = found.joined(separator: ", ")
        guard let named = choice.container else {
            guard own.database == nil else { return nil }
            guard found.count > 1 else { return found.first ?? ServerOptions.usualContainer }
            throw CommandFailure(
                unusable: "\(own.name) has \(Amount.text(found.count, "container")); name one with "
                    + "--container: \(list)"
            )
        }
        let isAdded = own.addsContainer || choice.configuration.service.opensContainers
        guard found.isEmpty || found.contains(named) || isAdded else {
            throw CommandFailure(
                unusable:
                    "\(own.name) has no container \(named), but \(list); correct the name, or "
                    + "add the container with --new-container"
            )
        }
        return named
    }

    /// Returns the users who get files: the named ones, or those of an earlier start.
    private static func users(
        _ choice: ServerOptions.Choice,
        _ files: AccessFiles,
        _ service: CloudService,
        _ container: String
    ) async throws -> [String] {
        if choice.namesUsers { return choice.users }
        let known = try await service.users(container: container)
        guard !known.isEmpty else { return choice.users }
        return known.filter { files.hasFile(of: $0, container) }.map(\.fullName)
    }

    /// Returns the URL of the dashboard with a container, if there is one, and with a key in its fragment, which
    /// browsers do not send.
    static func dashboard(at url: String, _ container: String?, key: String?) -> String {
        "\(url)/_/" + (container.map { "?container=\($0)" } ?? "")
            + (key.map { "#key=\($0)" } ?? "")
    }

    /// Returns the lines that are printed first when the server listens.
    private static func greeting(
        _ access: ServerAccess,
        _ files: [URL],
        at url: String
    ) -> [String] {
        var lines = ["Serving \(access.container) at \(url). Stop with Ctrl-C."]
        for (user, file) in zip(access.users, files) {
            lines.append("To run a program as \(user.name):  source \(file.relativePath)")
        }
        return lines
    }
}
