import NIOCore

/// Lets an HTTP client ask for a body no faster than it goes out.
///
/// The client asks for the next piece as soon as it has handed the last one to its connection's event
/// loop. Where that loop is behind, it would take in the whole body at once: no piece would be asked
/// for while bytes go out, which looks like silence.
struct BodyPace: Sendable {
    private let loops: [any EventLoop]

    /// Keeps the pace of connections on any of these event loops.
    init(_ group: any EventLoopGroup) { loops = Array(group.makeIterator()) }

    /// Waits until every piece that was handed over has come to its connection, which says from then
    /// on whether it takes another one.
    func next() async {
        let ticks = loops.map { $0.submit {} }
        // A loop that has ended fails the request itself.
        for tick in ticks { try? await tick.get() }
    }
}
