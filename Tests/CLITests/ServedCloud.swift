import Foundation
import Testing

/// A server in a separate process, with a temporary folder for the test.
struct ServedCloud {
    /// The server's data folder.
    let data: String
    /// A folder for the test's files.
    let folder: URL

    /// Runs a test against a server with the users Ada and Bob.
    ///
    /// - Parameters:
    ///   - faults: The faults to inject, as JSON.
    ///   - options: Further options of the server.
    ///   - body: The test.
    static func run(
        faults: String? = nil,
        options: [String] = [],
        _ body: (ServedCloud) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ServedCloud-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("cloud").path
        var arguments = ["serve", "--data", data, "--port", "0", "--user", "Ada", "--user", "Bob"]
        if let faults {
            let file = folder.appendingPathComponent("faults.json")
            try Data(faults.utf8).write(to: file)
            arguments += ["--faults", file.path]
        }
        let server = try await CommandProcess.start(arguments + options)
        defer { server.end(SIGTERM) }
        try #require(server.greeting.hasPrefix("Serving"))
        try await body(ServedCloud(data: data, folder: folder))
    }

    /// Runs a command as a user.
    @discardableResult
    func run(
        _ arguments: String...,
        as user: String = "ada",
        input: String = ""
    ) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(
            arguments,
            settings: try settings(of: user),
            input: input
        )
    }

    /// Runs a command that must succeed, and returns the objects that it prints.
    @discardableResult
    func objects(
        _ arguments: String...,
        as user: String = "ada",
        input: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [[String: Any]] {
        let outcome = try await CommandProcess.run(
            arguments + ["--json"],
            settings: try settings(of: user),
            input: input
        )
        try #require(outcome.status == 0, "\(outcome.errors)", sourceLocation: sourceLocation)
        return try outcome.objects()
    }

    /// Returns the settings that the server wrote for a user, or for `operator`.
    func settings(of user: String) throws -> [String: String] {
        try Self.settings(String(contentsOfFile: "\(data)/\(user).env", encoding: .utf8))
    }

    /// Returns the settings in a file, as a shell would read them.
    static func settings(_ text: String) -> [String: String] {
        var settings: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("export ") {
            let parts = line.dropFirst("export ".count).split(separator: "=", maxSplits: 1)
            settings[String(parts[0])] = String(parts[1])
        }
        return settings
    }

    /// Writes a file of the test, and returns its path.
    func file(_ name: String, _ contents: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try Data(contents.utf8).write(to: file)
        return file.path
    }

    /// Returns the path of a file of the test, which need not exist.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
