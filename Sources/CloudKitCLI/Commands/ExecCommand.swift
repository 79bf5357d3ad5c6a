import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// A command that runs a program against a fresh server.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command against a fresh CloudKit server, and stop the server after it.",
        discussion: """
            The server is empty, in memory and on a free port of this machine. The command finds it \
            through CLOUDKIT_URL, CLOUDKIT_CONTAINER, CLOUDKIT_ENVIRONMENT, CLOUDKIT_API_TOKEN and \
            CLOUDKIT_WEB_AUTH_TOKEN, the last for the first --user. CLOUDKIT_ADMIN_KEY opens the \
            routes for tests under /_ck/. Signals are forwarded; the exit status is the command's, \
            or 128 and the signal's number.

            cloudkit exec swift test

            --import and --export-on-exit use files of cloudkit backup: the server starts with the \
            data of the first, and its final data is written to the second.
            """
    )

    @Option(help: "Keep the data in this folder instead of in memory.")
    var data: String?

    @Option(
        name: .customLong("import"),
        help: "Start with the data of a backup, from cloudkit backup or --export-on-exit."
    )
    var importFile: String?

    @Option(
        name: .customLong("export-on-exit"),
        help: "Back up to this file after the command, replacing an earlier backup."
    )
    var exportFile: String?

    @OptionGroup(title: "Users and behavior")
    var options: ServerOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: "The command and its arguments, optionally after --."
    )
    var arguments: [String] = []

    private var command: [String] {
        Array(arguments.first == "--" ? arguments.dropFirst() : arguments[...])
    }

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Name the command to run: cloudkit exec COMMAND ARGUMENTS")
        }
        if let option = arguments.first, option != "--", option.hasPrefix("-") {
            throw ValidationError(
                "Unknown option '\(option)'\(NearestName.advice(for: option, in: Self.optionNames))"
                    + "; a command of that name goes after --"
            )
        }
        if let exportFile, let problem = Self.problem(withExportTo: exportFile) {
            throw ValidationError("--export-on-exit: \(problem)")
        }
    }

    /// Returns the reason why a file must not be written; nil when there is none, or a backup of before.
    private static func problem(withExportTo path: String) -> String? {
        if let problem = OverwriteOptions.problem(withReplacing: path) { return problem }
        guard FileManager.default.fileExists(atPath: path), !Backup.isArchive(path) else {
            return nil
        }
        return
            "\(path) is no backup, and would be replaced by one; give another name, or move it away"
    }

    func run() async throws {
        guard data == nil, importFile != nil || exportFile != nil else {
            return try await run(in: data)
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-exec-\(UUID().uuidString)").path
        // What stays is temporary, and removed by the system.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await run(in: folder)
    }

    /// Runs the command against a server that keeps its data in a folder, or in memory.
    private func run(in folder: String?) async throws {
        if let importFile, let folder {
            let report = try await Restore(of: importFile).run(into: folder)
            if let problem = RestoreCommand.problem(report, importFile) { Console.say(problem) }
        }
        // From here on signals belong to the command.
        let signals = await UnixSignalsSequence(trapping: ForwardedSignals.all)
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .error
        var settings = ServerSettings()
        var choice = try options.choice(from: &settings)
        choice.configuration.directory = folder
        let server = try CloudServer(configuration: choice.configuration, logger: logger)
        let container = try await container(server.service, choice)
        var group = ServiceGroupConfiguration(services: [server], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(5)
        let services = ServiceGroup(configuration: group)
        let status = try await withThrowingTaskGroup(of: Void.self, returning: Int32.self) {
            group in
            group.addTask { try await services.run() }
            let environment = try await environment(of: server, container, choice)
            let result: Result<Int32, any Error>
            do {
                let child = try ChildProcess.start(command, environment: environment)
                result = .success(await Self.end(of: child, passing: signals))
            } catch {
                result = .failure(error)
            }
            // Even if there is no such command, because a cancelled server reports an error.
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return try result.get()
        }
        if let exportFile, let folder {
            let seconds = Int64(Date.now.timeIntervalSince1970)
            let report = try await Backup(of: folder).write(to: exportFile, seconds: seconds)
            if let problem = BackupCommand.problem(report, exportFile) { Console.say(problem) }
        }
        throw ExitCode(status)
    }

    /// Forwards signals until the command ends.
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

    /// Returns the container of the command; one of the import, which may have brought its own
    /// containers and users.
    private func container(
        _ service: CloudService,
        _ choice: ServerOptions.Choice
    ) async throws -> String {
        let found = try await service.containers()
        let named = choice.container ?? (found.count == 1 ? found[0] : nil)
        guard let importFile else { return named ?? ServerOptions.usualContainer }
        guard let named, found.contains(named) else {
            throw CommandFailure(
                unusable:
                    "\(importFile) has \(found.joined(separator: ", ")); name one of them with "
                    + "--container"
            )
        }
        let known = try await service.users(container: named).map(\.fullName)
        guard let stranger = options.users.first(where: { !known.contains($0) }) else {
            return named
        }
        throw CommandFailure(
            unusable: "--user \(stranger): \(named) in \(importFile) has no such user, but "
                + known.filter { !$0.isEmpty }.sorted().joined(separator: ", ")
        )
    }

    /// Returns the command's environment: the current one with the server's settings.
    private func environment(
        of server: CloudServer,
        _ container: String,
        _ choice: ServerOptions.Choice
    ) async throws -> [String: String] {
        let known = try await server.service.users(container: container).map(\.fullName)
        let access = try await ServerAccess(
            server.service,
            url: try await server.url(),
            container: container,
            apiToken: nil,
            users: options.users.isEmpty && !known.isEmpty ? known : choice.users
        )
        var environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("CLOUDKIT_")
        }
        for (name, value) in access.settings(of: access.users.first).settings {
            environment[name] = value
        }
        environment[OperatorOptions.keyVariable] = server.administrationKey
        return environment
    }
}
