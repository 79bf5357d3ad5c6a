import Dispatch
import Synchronization

/// Holds the writer until it is released.
final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)
    private let held = Mutex(false)

    var isHeld: Bool { held.withLock { $0 } }

    func hold() {
        held.withLock { $0 = true }
        _ = opening.wait(timeout: .now() + 30)
    }

    func open() { opening.signal() }
}
