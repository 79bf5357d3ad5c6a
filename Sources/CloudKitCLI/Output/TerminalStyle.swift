import Foundation

/// How text stands out on a terminal.
enum TerminalStyle: String {
    case bold = "1"
    case red = "1;31"
    case yellow = "33"

    /// Text in the style.
    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

    /// Whether what is written to a descriptor has colours.
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
