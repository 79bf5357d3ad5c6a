import ArgumentParser
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The options for a user's password: from the terminal, from a file, or none.
///
/// Never from the arguments, which every user of the machine can see.
struct PasswordOptions: ParsableArguments {
    @Option(help: "A file whose first line is the password; - for standard input.")
    var passwordFile: String?

    @Flag(help: "Set no password: the user can sign in only on the server's own machine.")
    var noPassword = false

    func validate() throws {
        if noPassword, passwordFile != nil {
            throw ValidationError("--no-password and --password-file exclude each other")
        }
    }

    /// Returns the password; nil for none.
    ///
    /// - Throws: `CommandFailure` when there is no terminal, or the file cannot be read.
    func password() throws -> String? {
        if noPassword { return nil }
        if let passwordFile { return try Self.firstLine(of: passwordFile) }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                unusable: "There is no terminal to ask for the password; give --password-file "
                    + "FILE, or --no-password for local work"
            )
        }
        return try Self.hidingWhatIsTyped {
            let password = try Self.ask("Password: ")
            guard try Self.ask("The same again: ") == password else {
                throw CommandFailure(unusable: "The two passwords differ; nothing was changed")
            }
            return password
        }
    }

    private static func firstLine(of path: String) throws -> String {
        let data: Data
        do {
            data =
                path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure(unusable: "--password-file \(path): the file cannot be read")
        }
        guard !data.isEmpty else {
            throw CommandFailure(
                unusable:
                    "--password-file \(path): the file is empty; write the password on its first "
                    + "line"
            )
        }
        guard let text = String(validating: data, as: UTF8.self),
            let line = text.split(whereSeparator: \.isNewline).first
        else {
            throw CommandFailure(unusable: "--password-file \(path): the file has no password")
        }
        return String(line)
    }

    /// Hides typed text on the terminal, starting before the first prompt: otherwise an immediate
    /// reply would be shown, and lost.
    private static func hidingWhatIsTyped(_ body: () throws -> String) throws -> String {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw CommandFailure(unusable: "The terminal cannot hide what is typed")
        }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        shownTerminal = shown
        let handlers = endings.map { number in
            signal(number) { number in
                tcsetattr(STDIN_FILENO, TCSANOW, &PasswordOptions.shownTerminal)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            for (number, handler) in zip(endings, handlers) { signal(number, handler) }
        }
        return try body()
    }

    /// The signals that end the process at a question.
    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The terminal's state to restore then.
    // nonisolated(unsafe) because a handler of signals can reach nothing but globals; it is set
    // before there is a handler.
    nonisolated(unsafe) private static var shownTerminal = termios()

    private static func ask(_ question: String) throws -> String {
        Console.ask(question)
        defer { Console.ask("\n") }
        guard let line = readLine(strippingNewline: true) else {
            throw CommandFailure(unusable: "No password was typed")
        }
        return line
    }
}
