import NIOCore

/// Limits the rate at which an HTTP client reads a body to the rate at which it is sent.
///
/// The client requests the next piece as soon as it has passed the last one to its connection's event
/// loop. If that loop lags behind, the client would read the whole body immediately: no piece would
/// be requested while bytes are sent, which looks like silence.
struct BodyPace: Sendable {
    private let loops: [any EventLoop]

    /// Creates the pace of connections on any of these event loops.
    init(_ group: any EventLoopGroup) { loops = Array(group.makeIterator()) }

    /// Waits until every piece that was passed on has reached its connection, which from then on
    /// controls whether it takes another one.
    func next() async {
        let ticks = loops.map { $0.submit {} }
        // A loop that has ended fails the request itself.
        for tick in ticks { try? await tick.get() }
    }
}
