import CloudKitWebClient
import Support
import Synchronization

/// Cuts the connection to a cloud permanently, like the end of a process.
final class Cut: Sendable {
    private let isMade = Mutex(false)

    func make() { isMade.withLock { $0 = true } }

    /// Returns a transport that works until the cut.
    func over(_ base: any Transport) -> any Transport {
        ScriptedTransport { [self] _, _ in
            guard isMade.withLock({ $0 }) else { return nil }
            throw TransportError(.unreachable, message: "The process has ended")
        }.over(base)
    }
}
