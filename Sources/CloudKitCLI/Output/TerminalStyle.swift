import Foundation

/// The styles of text on a terminal.
enum TerminalStyle: String {
    case bold = "1"
    case red = "1;31"
    case yellow = "33"

    /// Returns a text in the style.
    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

    /// Returns whether the output to a descriptor has colors.
    static func isUsed(for descriptor: Int32) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            let variables = ProcessInfo.processInfo.environment
            return isatty(descriptor) == 1 && (variables["NO_COLOR"] ?? "").isEmpty
                && variables["TERM"] != "dumb"
        }
    }

    private static let choice = ColorChoice(arguments: Array(CommandLine.arguments.dropFirst()))
}
