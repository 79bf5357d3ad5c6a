import CloudKitServer
import Foundation

/// Where commands write: results to standard output, everything else to standard error.
enum Console {
    /// Prints a result and ends the line.
    ///
    /// Not `print`, which keeps its text back when a program reads it.
    ///
    /// - Throws: `CommandFailure` when nobody reads it any more.
    static func write(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            // A reader such as `head` went away: that is no mistake worth a message.
            throw CommandFailure(nil)
        }
    }

    /// Tells a person, not a program; what others put into the text cannot change the terminal.
    static func say(_ text: String) {
        let text = TerminalText.lines(text)
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// The width of the terminal that shows the results; nil when a file or a program takes them.
    static var columns: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
