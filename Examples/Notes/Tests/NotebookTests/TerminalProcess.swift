#if canImport(CloudKitTesting)
import Foundation
import Synchronization

/// The program in a process of its own: what is typed into it, and the lines that it shows.
final class TerminalProcess: Sendable {
    /// The lines as they come.
    let lines: AsyncStream<String>
    // Foundation's process and handles may be used from any thread, one call at a time.
    private let process: Mutex<Process>
    private let input: Mutex<FileHandle>

    /// Starts the program that was built beside the tests.
    init(file: URL, environment: [String: String]) throws {
        let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL =
            tests.deletingLastPathComponent().appendingPathComponent("notes")
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
    func type(_ line: String) throws {
        try input.withLock { try $0.write(contentsOf: Data((line + "\n").utf8)) }
    }

    /// Waits for the next line.
    func next() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Waits until a line with an end is shown, and gives the line.
    func wait(for end: String) async -> String? {
        for await line in lines where line.hasSuffix(end) { return line }
        return nil
    }

    /// Waits until lines with several ends are shown, in any order; says whether they were.
    func wait(forAll ends: [String]) async -> Bool {
        var rest = ends
        for await line in lines {
            rest.removeAll { line.hasSuffix($0) }
            if rest.isEmpty { return true }
        }
        return false
    }

    /// Ends the program as a crash would.
    func kill() async {
        process.withLock { $0.terminate() }
        for await _ in lines {}
    }

    deinit {
        process.withLock { if $0.isRunning { $0.terminate() } }
    }
}
#endif
