import ArgumentParser
import CloudKitServer
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs a program against a server of its own.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command against a fresh CloudKit server, and stop the server after it.",
        discussion: """
            The server is empty, in memory and on a free port of this machine. The command finds it \
            through CLOUDKIT_URL, CLOUDKIT_CONTAINER, CLOUDKIT_ENVIRONMENT, CLOUDKIT_API_TOKEN and \
            CLOUDKIT_WEB_AUTH_TOKEN, the last for the first --user. CLOUDKIT_ADMIN_KEY opens the \
            routes for tests under /_ck/. Signals are passed on; the exit status is the command's, \
            or 128 and the signal's number.

            cloudkit exec -- swift test
            """
    )

    @Option(help: "Keep the data in this folder instead of in memory.")
    var data: String?

    @OptionGroup(title: "Whom to serve, and how")
    var options: ServerOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Say what to run: cloudkit exec -- COMMAND ARGUMENTS")
        }
    }

    func run() async throws {
        // From here on signals are the command's, not ours.
        let signals = await UnixSignalsSequence(trapping: ForwardedSignals.all)
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .error
        let server = try CloudServer(
            configuration: try options.configuration(directory: data, port: 0),
            logger: logger
        )
        var group = ServiceGroupConfiguration(services: [server], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(5)
        let services = ServiceGroup(configuration: group)
        let status = try await withThrowingTaskGroup(of: Void.self, returning: Int32.self) {
            group in
            group.addTask { try await services.run() }
            let environment = try await environment(of: server)
            let child = try ChildProcess.start(command, environment: environment)
            let status = await Self.end(of: child, passing: signals)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return status
        }
        throw ExitCode(status)
    }

    /// Passes signals on until the command ends.
    ///
    /// - Returns: Its exit status.
    private static func end(
        of child: ChildProcess,
        passing signals: UnixSignalsSequence
    ) async -> Int32 {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals { ForwardedSignals.pass(signal, to: child) }
            }
            let status = await child.end()
            group.cancelAll()
            return status
        }
    }

    /// The command's environment: ours, with what leads to the server.
    private func environment(of server: CloudServer) async throws -> [String: String] {
        let access = try await ServerAccess(
            server.service,
            url: try await server.url(),
            container: options.container ?? ServerOptions.usualContainer,
            apiToken: nil,
            users: options.users
        )
        var environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("CLOUDKIT_")
        }
        for (name, value) in access.settings(of: access.users.first).settings {
            environment[name] = value
        }
        environment["CLOUDKIT_ADMIN_KEY"] = server.administrationKey
        return environment
    }
}
