import Synchronization

/// Records lines in the order in which they arrive.
final class Recorder: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] {
        kept.withLock(\.self)
    }

    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }
}
