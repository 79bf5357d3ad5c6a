import CloudKitWebClient
import Support
import Synchronization

/// Cuts a way into a cloud for good, as the end of a process does.
final class Cut: Sendable {
    private let isMade = Mutex(false)

    func make() { isMade.withLock { $0 = true } }

    /// The way, until it is cut.
    func over(_ base: any Transport) -> any Transport {
        ScriptedTransport { [self] _, _ in
            guard isMade.withLock({ $0 }) else { return nil }
            throw TransportError(.unreachable, message: "The process has ended")
        }.over(base)
    }
}
