import Foundation
import ProcessFixtures

/// The built `cloudkit`, run as a separate process.
struct CommandProcess {
    /// The outcome of a finished run.
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        /// Returns the lines of the output as JSON objects.
        func objects() throws -> [[String: Any]] {
            try output.split(separator: "\n").map { line in
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            }
        }
    }

    /// The executable beside the test bundle.
    static let executable = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().appendingPathComponent("cloudkit")

    /// Runs the command to its end, with only the given settings.
    static func run(
        _ arguments: [String],
        settings: [String: String] = [:],
        input: String = "",
        executable: URL = executable
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("CLOUDKIT_") }
            .merging(settings) { $1 }
        let (output, errors, typed) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = typed
        let ended = AsyncStream<Void> { stream in
            process.terminationHandler = { _ in stream.finish() }
        }
        try process.run()
        // The input fits into the pipe, because tests type only a few lines.
        typed.fileHandleForWriting.write(Data(input.utf8))
        try typed.fileHandleForWriting.close()
        async let outputText = output.text()
        async let errorText = errors.text()
        for await _ in ended {}
        return Outcome(
            status: process.terminationStatus,
            output: try await outputText,
            errors: try await errorText
        )
    }

    /// Runs a script of a shell, in which `$0` is the command.
    static func shell(
        _ script: String,
        settings: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(
            ["-c", script, executable.path],
            settings: settings,
            executable: URL(fileURLWithPath: "/bin/sh")
        )
    }

    /// A command that runs until it is stopped.
    struct Running {
        fileprivate let process: Process
        /// The first line that it printed.
        let greeting: String

        /// The exit status, once it has ended.
        var status: Int32 { process.terminationStatus }

        /// Waits for the command to end.
        ///
        /// - Returns: The exit status.
        func wait() -> Int32 {
            process.waitUntilExit()
            return process.terminationStatus
        }

        /// Sends a signal to the command.
        func send(_ signal: CInt) { kill(process.processIdentifier, signal) }

        /// Ends the command with a signal, and waits for its end.
        func end(_ signal: CInt) {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
        }
    }

    /// Starts the command without waiting.
    static func launch(_ arguments: [String], settings: [String: String]) throws -> Running {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("CLOUDKIT_") }
            .merging(settings) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return Running(process: process, greeting: "")
    }

    /// The stream on which a command reports its start.
    enum Stream {
        case output, errors
    }

    /// Starts the command and waits for its first line.
    static func start(
        _ arguments: [String],
        settings: [String: String] = [:],
        until stream: Stream = .output,
        executable: URL = executable
    ) async throws -> Running {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("CLOUDKIT_") }
            .merging(settings) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        switch stream {
        case .output: process.standardOutput = output
        case .errors:
            process.standardOutput = FileHandle.nullDevice
            process.standardError = output
        }
        try process.run()
        return Running(process: process, greeting: await output.firstLine() ?? "")
    }
}
