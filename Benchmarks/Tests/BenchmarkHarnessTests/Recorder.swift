import Synchronization

/// Keeps lines in the order in which they came.
final class Recorder: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] {
        kept.withLock(\.self)
    }

    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }
}
