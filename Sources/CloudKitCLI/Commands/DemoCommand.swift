#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import ArgumentParser
import CloudKitServer
import CloudKitWebClient
import Foundation
import Logging

/// A command that demonstrates the main features: nested values are saved, shared between two
/// devices, and read back.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Save the world's time zones as one graph, and share it between two devices.",
        discussion: """
            Starts a server on a free port with its data in a temporary folder, and lets two \
            devices of one user save, fetch, change and merge over HTTP: first as records, then \
            as rows of two databases that are edited offline. Every step is checked.
            """
    )

    @Flag(help: "Print the report as one line of JSON.")
    var json = false

    @Flag(
        name: [.long, .customLong("serve")],
        help: "Leave the server running at the end, and print how to reach it."
    )
    var keepServing = false

    @Option(help: "The folder of the IANA time zone database.")
    var zoneinfo = TimeZoneTables.directory

    @OptionGroup
    var terminal: TerminalOptions

    func run() async throws {
        // A demonstration that was complete counts as a success, even if a signal ended the serving.
        try await Interruptible.run { try await show() }
    }

    private func show() async throws {
        let tables: TimeZoneTables
        do {
            tables = try TimeZoneTables(directory: zoneinfo)
        } catch {
            throw CommandFailure(unusable: error.description)
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-demo-\(UUID().uuidString)")
        let (data, devices) = (
            folder.appendingPathComponent("server"), folder.appendingPathComponent("devices")
        )
        // What stays is temporary, and removed by the system.
        defer { try? FileManager.default.removeItem(at: folder) }
        for part in [data, devices] {
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: true)
        }
        try await serve(from: data) { access, key in
            let report = try await DemoRun(access: access, tables: tables, folder: devices).run()
            try Console.write(json ? OutputOptions.line(report) : report.text)
            guard report.equal else { throw DemoError("Device B's values differ from device A's") }
            guard keepServing else { return }
            Console.say("The server continues at \(access.url), until Ctrl-C. To reach it:")
            Console.say(access.environment(of: access.users.first))
            if let key {
                let page = ServeCommand.dashboard(at: access.url, access.container, key: key)
                Console.say("To see what is in it:  \(page)")
                Console.say("To operate it:  export \(OperatorOptions.keyVariable)=\(key)")
            }
            // Until a signal cancels it.
            try? await Task.sleep(for: .seconds(Int64(UInt32.max)))
        }
    }

    private func serve(
        from folder: URL,
        _ body: (ServerAccess, _ key: String?) async throws -> Void
    ) async throws {
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .critical
        var configuration = CloudServer.Configuration(directory: folder.path)
        configuration.version = PackageVersion.current
        let server = try CloudServer(configuration: configuration, logger: logger)
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            let access = try await ServerAccess(
                server.service,
                url: try await server.url(),
                container: "iCloud.demo",
                apiToken: nil,
                users: ["Ada"]
            )
            Console.say("Server at \(access.url), data in \(folder.path)")
            try await body(access, server.administrationKey)
            group.cancelAll()
        }
    }
}
#endif
