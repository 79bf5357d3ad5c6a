package import HummingbirdCore
package import Logging
package import NIOCore
import Synchronization

/// An HTTP/1 channel whose connections may be dropped before a handler runs them.
///
/// A connection that is accepted while the server shuts down reaches no handler. SwiftNIO ends the
/// process when such a channel is released without having been run; here it is run with an empty
/// closure, which closes it.
package struct ClosingHTTP1Channel: ServerChildChannel {
    /// An accepted connection.
    package final class Value: ServerChildChannelValue {
        private let accepted: HTTP1Channel.Value
        private let isTaken = Atomic(false)

        fileprivate init(_ accepted: HTTP1Channel.Value) { self.accepted = accepted }

        package var channel: any Channel { accepted.channel }

        fileprivate func take() -> HTTP1Channel.Value {
            isTaken.store(true, ordering: .relaxed)
            return accepted
        }

        deinit {
            if isTaken.load(ordering: .relaxed) { return }
            // Whether or not it closes in order, nobody waits for the connection.
            Task { [accepted] in try? await accepted.executeThenClose { _, _ in } }
        }
    }

    private let http: HTTP1Channel
    private let threads: (any TaskExecutor)?
    /// Creates the first handlers of each connection's pipeline.
    private let first: @Sendable () -> [any ChannelHandler]

    /// Creates a channel like `HTTP1Channel` with the same arguments, preceded by handlers of bytes.
    ///
    /// The tasks of its connections run on `threads`. Those that run the server must not: AsyncAlgorithms,
    /// which ServiceLifecycle uses, keeps a lock while a task changes threads, and a cancellation in that moment
    /// waits for the lock and is waited for.
    package init(
        responder: @escaping HTTPChannelHandler.Responder,
        configuration: HTTP1Channel.Configuration = .init(),
        threads: (any TaskExecutor)? = nil,
        behind first: @escaping @Sendable () -> [any ChannelHandler] = { [] }
    ) {
        self.first = first
        self.threads = threads
        http = HTTP1Channel(responder: responder, configuration: configuration)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let handlers = channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers(first())
        }
        return handlers.flatMap { http.setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                try TargetGuard.add(to: channel.pipeline)
                return Value(value)
            }
    }

    package func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(threads) {
            await http.handle(value: value.take(), logger: logger)
        }
    }
}
