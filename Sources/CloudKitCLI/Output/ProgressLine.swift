import Foundation
import Synchronization

/// A progress bar on standard error; silent without a terminal.
package final class ProgressLine: Sendable {
    private static let width = 30

    private let label: String
    private let isTerminal: Bool
    private let lastPercent = Mutex(-1)

    /// Creates a bar.
    init(_ label: String, isTerminal: Bool = isatty(STDERR_FILENO) == 1) {
        self.label = label
        self.isTerminal = isTerminal
    }

    /// Draws the bar at a fraction from 0 to 1; in place on a terminal, otherwise once at the end.
    func update(_ fraction: Double) {
        let percent = Int((min(max(fraction, 0), 1) * 100).rounded(.down))
        let isNews = lastPercent.withLock { last in
            defer { last = max(last, percent) }
            return percent > last && (isTerminal || percent == 100)
        }
        guard isNews else { return }
        let text = Self.text(label, percent: percent)
        let line = isTerminal ? "\r\(text)\(percent == 100 ? "\n" : "")" : "\(text)\n"
        // Progress that cannot be shown stops no work.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    /// Draws the progress of a call while it runs, and the full bar when it succeeds.
    func follow<Success: Sendable>(
        _ call: (Progress) async throws -> Success
    ) async throws -> Success {
        let progress = Progress(totalUnitCount: 0)
        // Foundation's progress sends no notifications on this platform.
        let drawing = Task { [self] in
            while !Task.isCancelled {
                update(progress.totalUnitCount > 0 ? progress.fractionCompleted : 0)
                // Only a cancellation ends the wait early, and then the loop.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { drawing.cancel() }
        let success = try await call(progress)
        update(1)
        return success
    }

    /// Returns the bar as text, such as `saving  [######------]  50 %`.
    package static func text(_ label: String, percent: Int) -> String {
        let full = width * percent / 100
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        let number = String(percent)
        return "  \(label) [\(bar)] \(String(repeating: " ", count: 3 - number.count))\(number) %"
    }
}
