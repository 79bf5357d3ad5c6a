import Foundation

/// A finished run of one of the repository's scripts.
struct Script {
    var status: Int32
    /// Standard output and standard error, in order.
    var output: String

    /// Runs a script of the repository, named relative to its root, or another program by its path,
    /// and waits without blocking a thread.
    static func run(
        _ name: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Script {
        try await run(name, arguments: arguments, environment: environment)
    }

    static func run(
        _ name: String,
        arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Script {
        let folder = try TemporaryFolder()
        let log = URL(fileURLWithPath: try folder.write("", to: "log"))
        let process = Process()
        process.executableURL =
            name.hasPrefix("/") ? URL(filePath: name) : Repository.root.appending(path: name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(environment) { _, new in new }
        process.currentDirectoryURL = folder.url
        // A file rather than a pipe, which would have to be read while the script writes.
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in done.resume() }
            do {
                try process.run()
            } catch {
                done.resume(throwing: error)
            }
        }
        try handle.close()
        let output = try String(contentsOf: log, encoding: .utf8)
        return Script(status: process.terminationStatus, output: output)
    }
}
