import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs a server until it is stopped.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a CloudKit server.",
        discussion: """
            The server listens on this machine only, keeps its data in a folder, and prints how to \
            reach it. A write that was answered is on the disk.
            """
    )

    @Option(help: "The folder of the data; made when it is not there.")
    var data = "cloudkit-data"

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 8787

    @Option(
        help: """
            The address to listen on. Others than loopback let other machines in: put a proxy with \
            TLS before the server.
            """
    )
    var host = "127.0.0.1"

    @Option(
        name: .customLong("allowed-host"),
        help: "A name that requests may ask for, beside the loopback ones; repeatable."
    )
    var allowedHosts: [String] = []

    @Option(
        name: .customLong("allowed-origin"),
        help: "An origin whose web pages may call the server, beside loopback; repeatable."
    )
    var allowedOrigins: [String] = []

    @Option(help: "The URL under which clients reach the server, when a proxy is before it.")
    var publicURL: String?

    @Option(
        help: """
            When a write is answered: full, when power loss cannot undo it; relaxed, when only the \
            end of the process cannot, which is faster where syncing the disk is slow.
            """
    )
    var durability = Durability.full

    @Option(help: "Seconds after which a silent connection is closed.")
    var idleSeconds = 75

    @Option(help: "Seconds for a request to come, beside those that its bytes take.")
    var requestSeconds = 60

    @Option(help: "Connections at most.")
    var maxConnections = 800

    @Option(help: "Connections at most from one address.")
    var maxConnectionsPerAddress = 250

    @Option(help: "Bytes of bodies, and as many of answers, in memory at most.")
    var memoryBytes = 256 << 20

    @Option(help: "Days that a user stays signed in without using the token.")
    var sessionDays = 14

    @Flag(
        help: """
            Make each web auth token good for one request, whose answer has the next one, and once \
            more in case that answer got lost; any other use of it ends the session. For clients \
            that send one request at a time and keep the newest token.
            """
    )
    var rotateTokens = false

    @Option(
        name: .customLong("sign-in-callback"),
        help: """
            An address to which users may be sent with their token after signing in, such as \
            myapp://signed-in, beside loopback; repeatable.
            """
    )
    var signInCallbacks: [String] = []

    @Option(help: "Bytes of a request body at most.")
    var maxRequestBytes = Limits.requestBodyBytes

    @Option(help: "Bytes of an asset at most.")
    var maxAssetBytes = Limits.assetBytes

    @Option(help: "Seconds that requests under way have to end when the server is stopped.")
    var stopSeconds = 10

    @Option(
        help: """
            A file with the key for the routes of operators, which a server that is not on loopback \
            lacks otherwise. On loopback a new key is printed at each start.
            """
    )
    var adminKeyFile: String?

    @OptionGroup(title: "Whom to serve, and how")
    var options: ServerOptions

    /// The names of the durabilities.
    enum Durability: String, ExpressibleByArgument, CaseIterable {
        case full, relaxed
    }

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port \(port): a port is a number from 0 to 65535")
        }
        for (name, value) in [
            ("--idle-seconds", idleSeconds), ("--max-request-bytes", maxRequestBytes),
            ("--max-asset-bytes", maxAssetBytes), ("--stop-seconds", stopSeconds),
            ("--request-seconds", requestSeconds), ("--max-connections", maxConnections),
            ("--max-connections-per-address", maxConnectionsPerAddress),
            ("--memory-bytes", memoryBytes), ("--session-days", sessionDays),
        ] where value < 1 {
            throw ValidationError("\(name) \(value): the least is 1")
        }
    }

    private func configuration() throws -> CloudServer.Configuration {
        var configuration = try options.configuration(directory: data, port: port)
        configuration.host = host
        configuration.durability = durability == .full ? .full : .relaxed
        configuration.publicURL = publicURL
        configuration.allowedHosts = Set(allowedHosts)
        configuration.allowedOrigins = Set(allowedOrigins)
        configuration.idleSeconds = idleSeconds
        configuration.requestSeconds = requestSeconds
        configuration.maxConnections = maxConnections
        configuration.maxConnectionsPerAddress = maxConnectionsPerAddress
        configuration.memoryBytes = memoryBytes
        configuration.signInCallbacks = Set(signInCallbacks)
        configuration.service.webTokenSeconds = Int64(min(sessionDays, 36_500)) * 24 * 60 * 60
        configuration.service.rotatesWebTokens = rotateTokens
        configuration.service.requestBodyBytes = maxRequestBytes
        configuration.service.assetBytes = maxAssetBytes
        if let adminKeyFile {
            let key = (try? String(contentsOfFile: adminKeyFile, encoding: .utf8))?
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard let key, key.utf8.count >= 16 else {
                throw ValidationError(
                    "--admin-key-file \(adminKeyFile): the file must hold a key of 16 characters "
                        + "or more"
                )
            }
            configuration.administrationKey = key
        }
        return configuration
    }

    func run() async throws {
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .warning
        let configuration = try configuration()
        let server: CloudServer
        do {
            server = try CloudServer(configuration: configuration, logger: logger)
        } catch let error as ServerConfigurationError {
            throw ValidationError(error.description)
        }
        let container = try await container(server.service)
        var group = ServiceGroupConfiguration(
            services: [server],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = .seconds(stopSeconds)
        let services = ServiceGroup(configuration: group)
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            let files = AccessFiles(directory: data)
            let url = try await server.url()
            let access = try await ServerAccess(
                server.service,
                url: configuration.publicURL ?? url,
                container: container,
                apiToken: files.apiToken(of: container, server.service),
                users: options.users
            )
            // A key that came in a file is known to who needs it.
            let key = adminKeyFile == nil ? server.administrationKey : nil
            let written = try await files.write(access, server.service)
            try Console.write(Self.greeting(access, written, key, at: url))
            try await group.waitForAll()
        }
    }

    /// The container to serve: the one that was named, the one of the folder, or a new one.
    private func container(_ service: CloudService) async throws -> String {
        if let container = options.container { return container }
        let found = try await service.containers()
        guard found.count > 1 else { return found.first ?? ServerOptions.usualContainer }
        throw CommandFailure(
            unusable: "\(data) has \(found.count) containers; name one with --container: "
                + found.joined(separator: ", ")
        )
    }

    /// What is printed when the server listens.
    static func greeting(
        _ access: ServerAccess,
        _ files: [URL],
        _ key: String?,
        at url: String
    ) -> String {
        var lines = ["Serving \(access.container) at \(url). Stop with Ctrl-C."]
        for (user, file) in zip(access.users, files) {
            lines.append("To run a program as \(user.name):  source \(file.relativePath)")
        }
        if let key { lines.append("Key for the routes of operators, until it stops:  \(key)") }
        return lines.joined(separator: "\n")
    }
}
