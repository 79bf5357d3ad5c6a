import Foundation
import Synchronization

/// A bar on standard error that a person can follow; silent where nobody watches.
final class ProgressLine: Sendable {
    private static let width = 30

    private let label: String
    private let isTerminal: Bool
    private let lastPercent = Mutex(-1)

    /// Makes a bar.
    init(_ label: String, isTerminal: Bool = isatty(STDERR_FILENO) == 1) {
        self.label = label
        self.isTerminal = isTerminal
    }

    /// Draws the bar at a fraction from 0 to 1; on a terminal in place, elsewhere once at the end.
    func update(_ fraction: Double) {
        let percent = Int((min(max(fraction, 0), 1) * 100).rounded(.down))
        let isNews = lastPercent.withLock { last in
            defer { last = max(last, percent) }
            return percent > last && (isTerminal || percent == 100)
        }
        guard isNews else { return }
        let text = Self.text(label, percent: percent)
        let line = isTerminal ? "\r\(text)\(percent == 100 ? "\n" : "")" : "\(text)\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// The bar as text, such as `saving  [######------]  50 %`.
    static func text(_ label: String, percent: Int) -> String {
        let full = width * percent / 100
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        let number = String(percent)
        return "  \(label) [\(bar)] \(String(repeating: " ", count: 3 - number.count))\(number) %"
    }
}
