import CloudKitServer
import Foundation

/// The outputs of commands: results to standard output, everything else to standard error.
enum Console {
    /// Prints a result and ends the line.
    ///
    /// Unlike `print`, it does not buffer text for a program that reads it.
    ///
    /// - Throws: `CommandFailure` when the text cannot be written, or nobody reads it any longer.
    static func write(_ text: String) throws {
        let bytes = Array((text + "\n").utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&output, 1, -1)
            // A reader such as `head` has what it wanted.
            case EPIPE: throw CommandFailure.unread
            case let error:
                throw CommandFailure(
                    "Standard output cannot be written: \(String(cString: strerror(error)))"
                )
            }
        }
    }

    /// Occupies the numbers of closed standard streams, so that no file or connection gets them,
    /// and with them everything that is printed.
    static func occupyClosedStreams() {
        // In the wrong direction, so that using them still fails.
        for (stream, direction) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(stream, F_GETFD) == -1 {
            _ = open("/dev/null", direction)
        }
    }

    /// Prints a table; on a terminal, within its width and with a highlighted header.
    ///
    /// - Throws: `CommandFailure` when the table cannot be written.
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

    /// Prints a question; what is typed stands on the same line.
    static func ask(_ text: String) { tell(text, terminator: "") }

    private static func tell(_ text: String, terminator: String = "\n") {
        // There is no other place for messages.
        try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
    }

    /// The width of the terminal that shows the results; nil when they go to a file or a program.
    static var columns: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
