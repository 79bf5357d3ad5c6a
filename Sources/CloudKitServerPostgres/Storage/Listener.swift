#if PostgreSQL
import CloudKitBasics
import CloudKitServerCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// Hears of the changes of other nodes, on a thread and a connection of its own, from the first time that
/// somebody asks for them.
///
/// A connection that is lost is replaced. What was notified meanwhile is lost, so that everything may
/// have changed then. The same is assumed at intervals: seldom while notifications arrive, in case that one
/// does not, and often while there is no connection.
final class Listener: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<ForeignChanges>.Continuation] = [:]
        var last = 0
        var isRunning = false
        var isClosed = false
    }

    private static let stackBytes = 512 * 1024
    /// The interval at which everything may have changed, in milliseconds, while notifications arrive.
    private static let seldom: Int32 = 10_000
    /// The interval while there is no connection, or something is between that may swallow them.
    private static let often: Int32 = 1000

    private let connector: Connector
    private let node: String
    private let state = Mutex(State())
    /// A pipe that ends the wait of the thread; its first end is read.
    private let alarm: (Int32, Int32)

    /// - Parameters:
    ///   - connector: The address of the database.
    ///   - node: The name of this node, whose own additions to queues are no news.
    init(_ connector: Connector, node: String) {
        self.connector = Connector(connector, name: "cloudkit-listener")
        self.node = node
        var ends: [Int32] = [-1, -1]
        // Without a pipe, an end is noticed after an interval.
        _ = pipe(&ends)
        alarm = (ends[0], ends[1])
    }

    deinit {
        for descriptor in [alarm.0, alarm.1] where descriptor >= 0 { close(descriptor) }
    }

    /// Returns the changes of other nodes from now on.
    func changes() -> AsyncStream<ForeignChanges> {
        let (changes, change) = AsyncStream.makeStream(of: ForeignChanges.self)
        let (id, starts) = state.withLock { state -> (Int, Bool) in
            guard !state.isClosed else {
                change.finish()
                return (0, false)
            }
            state.last += 1
            state.streams[state.last] = change
            defer { state.isRunning = true }
            return (state.last, !state.isRunning)
        }
        change.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
        }
        if starts, !DetachedThread.start(stackBytes: Self.stackBytes, { self.run() }) {
            // The next one who asks tries again; until then there is no news.
            state.withLock { $0.isRunning = false }
        }
        return changes
    }

    /// Ends the thread and all streams.
    func end() {
        let streams = state.withLock { state in
            defer { state.streams = [:] }
            state.isClosed = true
            return state.streams.values
        }
        for stream in streams { stream.finish() }
        var byte: UInt8 = 0
        _ = write(alarm.1, &byte, 1)
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func tell(_ changes: ForeignChanges) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(changes) }
    }

    private func run() {
        while !isClosed {
            // Whatever has ended the connection, there has to be another one.
            try? listen()
            guard !isClosed else { return }
            tell(.unknown)
            var descriptor = pollfd(fd: alarm.0, events: Int16(POLLIN), revents: 0)
            _ = poll(&descriptor, 1, Self.often)
        }
    }

    private func listen() throws {
        // Requests may come seldom; this thread notices first that there is no database.
        let connection = try connector.connect(until: .now) { connector.reachability.lost($0) }
        try connection.run([Statement(sql: "LISTEN \(Notice.channel)", isPrepared: false)])
        // A pooler between may swallow them.
        let interval = connection.isPooled ? Self.often : Self.seldom
        tell(.unknown)
        while !isClosed {
            let texts = try connection.notifications(until: alarm.0, milliseconds: interval)
            for text in texts { tell(ofNotice: Notice(text)) }
            guard texts.isEmpty, !isClosed else { continue }
            // A connection that was cut silently fails here.
            try connection.run([Statement(sql: "SELECT 1")])
            tell(.unknown)
        }
    }

    private func tell(ofNotice notice: Notice) {
        var changes = notice.changes
        // Whoever has written here has woken those who wait here.
        if notice.node == node { changes.queues = [] }
        if changes != ForeignChanges() { tell(changes) }
    }
}
#endif
