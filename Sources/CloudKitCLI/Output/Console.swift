import CloudKitServer
import Foundation

/// The outputs of commands: results to standard output, everything else to standard error.
enum Console {
    /// Prints a result and ends the line.
    ///
    /// Unlike `print`, it does not buffer text for a program that reads it.
    ///
    /// - Throws: `CommandFailure` when the reader is gone.
    static func write(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            // A reader such as `head` closed the pipe, which needs no message.
            throw CommandFailure(nil)
        }
    }

    /// Prints a table; on a terminal, within its width and with a highlighted header.
    ///
    /// - Throws: `CommandFailure` when the reader is gone.
    static func write(_ table: Table) throws {
        let style = TerminalStyle.isUsed(for: STDOUT_FILENO) ? TerminalStyle.bold : nil
        try write(table.text(columns: columns, head: style))
    }

    /// Prints an error for people.
    static func sayError(_ text: String) {
        let word = "Error:"
        let text = TerminalText.lines(text.hasPrefix(word) ? text : "\(word) \(text)")
        let isColored = TerminalStyle.isUsed(for: STDERR_FILENO)
        let head = isColored ? TerminalStyle.red.applied(to: word) : word
        tell(head + text.dropFirst(word.count))
    }

    /// Prints a message for people; text from others cannot change the terminal.
    static func say(_ text: String, _ style: TerminalStyle? = nil) {
        let text = TerminalText.lines(text)
        let isColored = style != nil && TerminalStyle.isUsed(for: STDERR_FILENO)
        tell(isColored ? style?.applied(to: text) ?? text : text)
    }

    private static func tell(_ text: String) {
        // There is no other place for messages.
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// The width of the terminal that shows the results; nil when they go to a file or a program.
    static var columns: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
