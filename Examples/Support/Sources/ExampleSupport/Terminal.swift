#if canImport(CloudKitServer)
import Foundation
import Synchronization

/// A program in its own process, with its input and the lines that it prints.
public final class Terminal: Sendable {
    /// The lines as they arrive.
    private let lines: AsyncStream<String>
    // Foundation's process and handles may be used from any thread, one call at a time.
    private let process: Mutex<Process>
    private let input: Mutex<FileHandle>

    /// Starts a program that was built with the tests.
    ///
    /// - Parameters:
    ///   - program: The name of the executable.
    ///   - file: The program's data file, which is its only argument.
    ///   - environment: Variables in addition to those of the tests.
    /// - Throws: When the program cannot be started.
    public init(program: String, file: URL, environment: [String: String]) throws {
        let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL =
            tests.deletingLastPathComponent().appendingPathComponent(program)
        process.arguments = [file.path]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (typed, shown) = (Pipe(), Pipe())
        process.standardInput = typed
        process.standardOutput = shown
        let (lines, line) = AsyncStream<String>.makeStream()
        self.lines = lines
        let rest = Mutex(Data())
        shown.fileHandleForReading.readabilityHandler = { handle in
            let part = handle.availableData
            if part.isEmpty {
                handle.readabilityHandler = nil
                line.finish()
            }
            rest.withLock { rest in
                rest += part
                while let end = rest.firstIndex(of: 10) {
                    line.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
        }
        try process.run()
        self.process = Mutex(process)
        input = Mutex(typed.fileHandleForWriting)
    }

    /// Types a line.
    public func type(_ line: String) throws {
        try input.withLock { try $0.write(contentsOf: Data((line + "\n").utf8)) }
    }

    /// Returns the next line; nil when the program ended before.
    public func next() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Waits for a line, and returns whether it was shown before the program ended.
    public func wait(for expected: String) async -> Bool {
        for await line in lines where line == expected { return true }
        return false
    }

    /// Waits for a line with an end, and returns the line; nil when the program ended before.
    public func wait(forEnd end: String) async -> String? {
        for await line in lines where line.hasSuffix(end) { return line }
        return nil
    }

    /// Waits for lines with several ends, in any order, and returns whether all were shown.
    public func wait(forEnds ends: [String]) async -> Bool {
        var rest = ends
        for await line in lines {
            rest.removeAll { line.hasSuffix($0) }
            if rest.isEmpty { return true }
        }
        return false
    }

    /// Ends the program as a crash would.
    public func kill() async {
        process.withLock { $0.terminate() }
        for await _ in lines {}
    }

    deinit {
        process.withLock { if $0.isRunning { $0.terminate() } }
    }
}
#endif
