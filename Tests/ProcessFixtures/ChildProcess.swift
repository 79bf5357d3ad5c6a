public import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An executable of this package that runs in a process of its own until a test kills it.
public final class ChildProcess: Sendable {
    /// The words of the first line that it printed.
    public let words: [String]
    private let process = Process()
    /// The input of the process, which ends with this one.
    private let input = Pipe()

    /// Starts an executable that stands beside the tests, and waits for its first line.
    ///
    /// - Parameters:
    ///   - name: The executable's name.
    ///   - arguments: Its arguments.
    ///   - variables: Variables in addition to those of the test.
    /// - Throws: `CocoaError.fileReadUnknown` when it ends before it prints a line.
    public init(
        _ name: String,
        _ arguments: [String],
        variables: [String: String] = [:]
    ) async throws {
        guard let tests = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
        process.executableURL = tests.deletingLastPathComponent().appending(path: name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        guard let line = await output.firstLine() else { throw CocoaError(.fileReadUnknown) }
        words = line.split(separator: " ").map(String.init)
    }

    /// Ends the process without warning, and returns when it has ended.
    public func kill() async { await ended(by: end) }

    /// Sends the process SIGTERM, and returns when it has ended.
    ///
    /// - Returns: Its status, or the number of the signal that ended it.
    public func stop() async -> Int32 {
        await ended(by: process.terminate)
        return process.terminationStatus
    }

    private func ended(by end: () -> Void) async {
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            end()
        }
    }

    private func end() {
        #if canImport(Glibc)
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        #elseif canImport(Musl)
        _ = Musl.kill(process.processIdentifier, SIGKILL)
        #else
        _ = Darwin.kill(process.processIdentifier, SIGKILL)
        #endif
    }

    deinit {
        if process.isRunning { end() }
    }
}

// A separate thread waits: the server that the other process talks to may need those of the tests, of which
// there are only as many as processors.
extension Pipe {
    /// Returns the first line that is written to the pipe, or nil when it ends before.
    public func firstLine() async -> String? {
        let handle = fileHandleForReading
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = Data()
                while !text.contains(UInt8(ascii: "\n")) {
                    let more = handle.availableData
                    if more.isEmpty { return continuation.resume(returning: nil) }
                    text += more
                }
                let line = text.prefix { $0 != UInt8(ascii: "\n") }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
    }

    /// Returns all that is written to the pipe, once it ends.
    public func text() async throws -> String {
        let handle = fileHandleForReading
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
                    }
                )
            }
        }
    }
}
