#if os(Linux)
import Foundation
import Testing

@Suite("Tables on a terminal")
struct TerminalTests {
    // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    /// Runs a command whose output is a terminal, and gives what the terminal shows.
    private func show(
        _ arguments: [String],
        _ settings: [String: String],
        columns: UInt16
    ) async throws -> String {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var number: Int32 = 0
        try #require(master >= 0 && ioctl(master, Self.unlock, &number) == 0)
        try #require(ioctl(master, Self.number, &number) == 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
        let terminal = FileHandle(fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
        defer {
            try? terminal.close()
            close(master)
        }
        let process = Process()
        process.executableURL = CommandProcess.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        process.standardOutput = terminal
        try process.run()
        // Little enough for the terminal's own buffer.
        process.waitUntilExit()
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("No line of a table is wider than the terminal")
    func width() async throws {
        try await ServedCloud.run { cloud in
            let long = String(repeating: "lang ", count: 100)
            try await cloud.objects(
                "records",
                "save",
                "--type",
                "N",
                "--name",
                "n",
                "--field",
                "text=\(long)"
            )
            let settings = try cloud.settings(of: "ada")
            let shown = try await show(["records", "query", "N"], settings, columns: 60)
            let lines = shown.split(whereSeparator: \.isNewline)
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.count <= 60 })
            #expect(lines.last?.hasSuffix("…") == true)
        }
    }
}
#endif
