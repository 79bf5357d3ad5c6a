import ArgumentParser
import CloudKitServer
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

    @Option(help: "The container to serve.")
    var container = "iCloud.com.example.app"

    @Option(name: .customLong("user"), help: "A user to sign in; may be given several times.")
    var users: [String] = ["Ada"]

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port \(port): a port is a number from 0 to 65535")
        }
    }

    func run() async throws {
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .warning
        try FileManager.default.createDirectory(
            atPath: data,
            withIntermediateDirectories: true
        )
        let server = try CloudServer(
            configuration: .init(directory: data, port: port),
            logger: logger
        )
        let services = ServiceGroup(
            services: [server],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            let files = AccessFiles(directory: data)
            let access = try await ServerAccess(
                server.service,
                url: try await server.url(),
                container: container,
                apiToken: files.apiToken(),
                users: users
            )
            let greeting = Self.greeting(access, try files.write(access)) + "\n"
            // Not `print`, which keeps its text back when a program reads it.
            FileHandle.standardOutput.write(Data(greeting.utf8))
            try await group.waitForAll()
        }
    }

    /// What is printed when the server listens.
    static func greeting(_ access: ServerAccess, _ files: [URL]) -> String {
        var lines = ["Serving \(access.container) at \(access.url). Stop with Ctrl-C."]
        for (user, file) in zip(access.users, files) {
            lines.append("To run a program as \(user.name):  source \(file.relativePath)")
        }
        return lines.joined(separator: "\n")
    }
}
