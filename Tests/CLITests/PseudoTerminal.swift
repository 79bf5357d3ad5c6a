#if os(Linux)
import Foundation
import Testing

/// A command whose output and errors go to a terminal.
struct PseudoTerminal {
    // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, which are macros that Swift cannot import.
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    /// Runs a command to its end, and returns the content of the terminal.
    ///
    /// - Parameters:
    ///   - arguments: The command's arguments.
    ///   - settings: Variables in addition to those of the test.
    ///   - columns: The terminal's width.
    ///   - showsErrors: Whether standard error is also the terminal.
    ///   - answers: The replies that are typed as soon as the terminal shows a prompt, in order.
    static func show(
        _ arguments: [String],
        _ settings: [String: String] = [:],
        columns: UInt16 = 80,
        showsErrors: Bool = false,
        answers: [(question: String, line: String)] = []
    ) throws -> String {
        let inputs = answers.map { Input(question: $0.question, act: .type($0.line)) }
        return try run(arguments, settings, columns, showsErrors, inputs).shown
    }

    /// Runs a command until a signal ends it, such as SIGHUP when its terminal hangs up.
    ///
    /// - Parameters:
    ///   - arguments: The command's arguments.
    ///   - signal: The signal.
    ///   - text: The last text that the terminal shows before that.
    /// - Returns: The exit status, and whether the terminal shows what is typed after the end.
    static func end(
        _ arguments: [String],
        with signal: Int32,
        after text: String
    ) throws -> (status: Int32, isEchoing: Bool) {
        let input = Input(question: text, act: .signal(signal))
        let end = try run(arguments, [:], 80, true, [input])
        return (end.status, end.isEchoing)
    }

    /// Input that is sent as soon as the terminal shows a text.
    private struct Input {
        enum Act {
            case type(String)
            case signal(Int32)
        }

        let question: String
        let act: Act
    }

    private static func run(
        _ arguments: [String],
        _ settings: [String: String],
        _ columns: UInt16,
        _ showsErrors: Bool,
        _ inputs: [Input]
    ) throws -> (shown: String, status: Int32, isEchoing: Bool) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var number: Int32 = 0
        try #require(master >= 0 && ioctl(master, Self.unlock, &number) == 0)
        try #require(ioctl(master, Self.number, &number) == 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
        let terminal = FileHandle(fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
        defer { close(master) }
        let process = Process()
        process.executableURL = CommandProcess.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { $0.key != "NO_COLOR" }
            .merging(["TERM": "xterm"]) { $1 }.merging(settings) { $1 }
        process.standardOutput = terminal
        if showsErrors { process.standardError = terminal }
        if !inputs.isEmpty { process.standardInput = terminal }
        try process.run()
        // The command's descriptors are then the only ones, so reading fails when it has ended.
        try terminal.close()
        var shown: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        var waiting = inputs[...]
        while case let count = read(master, &bytes, bytes.count), count > 0 {
            shown += bytes.prefix(count)
            guard let next = waiting.first,
                String(decoding: shown, as: UTF8.self).hasSuffix(next.question)
            else { continue }
            switch next.act {
            case .type(let line):
                let typed = Array((line + "\n").utf8)
                try #require(write(master, typed, typed.count) == typed.count)
            case .signal(let signal): kill(process.processIdentifier, signal)
            }
            waiting.removeFirst()
        }
        process.waitUntilExit()
        var state = termios()
        try #require(tcgetattr(master, &state) == 0)
        return (
            String(decoding: shown, as: UTF8.self), process.terminationStatus,
            state.c_lflag & tcflag_t(ECHO) != 0
        )
    }
}
#endif
