import CloudKitWire
import HTTPTypes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// A channel handler that enforces a connection's limits.
///
/// It counts the connection and limits the time in which a request must arrive and a response must
/// be read. It is the first handler of the pipeline, where it sees bytes; `RequestGuard` reports to
/// it where messages begin and end.
package final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The time limits of a connection.
    package struct Times: Sendable {
        /// The time for a request, and for reading a response, in addition to the time that their
        /// bytes take.
        var request: TimeAmount
        /// The rate, in bytes per second, below which a connection is too slow.
        var bytesPerSecond: Int64 = 16 * 1024
        /// The time for the rest of a body that is not read, so that its sender can read the error.
        var lingering: TimeAmount = .seconds(5)

        /// Creates time limits.
        package init(request: TimeAmount) {
            self.request = request
        }

        /// The longest time between two looks at the deadlines, at most the shortest of them, so that
        /// no deadline is missed.
        fileprivate var interval: TimeAmount { min(request, lingering) }

        fileprivate func time(for bytes: Int64) -> TimeAmount {
            request + .seconds(bytes / bytesPerSecond)
        }
    }

    private enum Phase {
        case idle, head, body, responding
    }

    private let connections: Connections
    private let times: Times
    /// The assumed length of a body that declares none.
    private let longestBody: Int64
    /// The limit that the connection exceeds.
    private var refusal: ConnectionLimit?
    /// `true` when nothing more is read because the connection is about to be closed.
    private var isEnding = false
    /// `true` when the library closes the connection after the last response.
    private var isQuiescing = false
    private var phase = Phase.idle
    private var requests = 0
    private var responses = 0
    /// The time by which the request must have arrived; nil while none arrives.
    private var requestDeadline: NIODeadline?
    /// The time by which the response must have been read; nil while none is sent.
    private var responseDeadline: NIODeadline?
    /// The next look at the deadlines, which may outlive them.
    ///
    /// A timer for each deadline would be six calls of the event loop for every request.
    private var timer: Scheduled<Void>?

    package init(_ connections: Connections, _ times: Times, longestBody: Int) {
        self.connections = connections
        self.times = times
        self.longestBody = Int64(longestBody)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        refusal = connections.admit(context.channel)
        if context.channel.isActive { refuseIfExcessive(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { end(context) }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        refuseIfExcessive(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            connections.leave(context.channel)
        }
        if event is ChannelShouldQuiesceEvent { isQuiescing = true }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard refusal == nil, !isEnding else { return }
        if phase == .idle {
            phase = .head
            requestDeadline = deadline(in: times.request, context)
        }
        context.fireChannelRead(data)
    }

    private func refuseIfExcessive(_ context: ChannelHandlerContext) {
        guard let refusal else { return }
        end(
            context,
            .serviceUnavailable,
            "The server has \(refusal.description); close some, or come again later"
        )
    }

    /// Sends an error that comes before any response, and closes the connection.
    private func end(
        _ context: ChannelHandlerContext,
        _ status: HTTPResponseStatus,
        _ reason: String
    ) {
        isEnding = true
        let error = RequestError(.tryAgainLater, reason: reason, retryAfter: 1)
        let bytes = EarlyRefusal(status, error).bytes
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(bytes)).whenComplete { _ in
            loopBound.value.close(promise: nil)
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        guard refusal == nil else { return }
        connections.remove(context.channel)
    }

    /// Returns a deadline, at which the connection is closed.
    private func deadline(in time: TimeAmount, _ context: ChannelHandlerContext) -> NIODeadline {
        let now = context.eventLoop.now
        if timer == nil { look(at: now + times.interval, context) }
        return now + time
    }

    private func look(at time: NIODeadline, _ context: ChannelHandlerContext) {
        let loop = context.eventLoop.assumeIsolated()
        timer = loop.scheduleTask(deadline: time) { self.checkDeadlines(context) }
    }

    private func checkDeadlines(_ context: ChannelHandlerContext) {
        timer = nil
        guard let next = [requestDeadline, responseDeadline].compactMap(\.self).min() else {
            return
        }
        let now = context.eventLoop.now
        if next <= now {
            if next == responseDeadline { connections.cut(context.channel) }
            guard responseDeadline == nil, isAwaited else { return context.close(promise: nil) }
            return end(
                context,
                .requestTimeout,
                "The request did not come within \(times.request.nanoseconds / 1_000_000_000) seconds "
                    + "(--request-seconds), and one more for each \(times.bytesPerSecond / 1024) KiB"
            )
        }
        look(at: min(next, now + times.interval), context)
    }

    /// `true` while a request arrives and every earlier one was answered.
    private var isAwaited: Bool {
        switch phase {
        case .head: responses == requests
        case .body: responses + 1 == requests
        case .idle, .responding: false
        }
    }

    // MARK: Events of RequestGuard

    fileprivate func requestBegan(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        requests += 1
        phase = .body
        let length = head.headerFields[.contentLength].flatMap { Int64($0) } ?? longestBody
        requestDeadline = deadline(in: times.time(for: min(length, longestBody)), context)
    }

    fileprivate func requestEnded() {
        requestDeadline = nil
        phase = responses == requests ? .idle : .responding
    }

    /// `true` when the response that begins is the connection's last, because the server stops.
    ///
    /// Only here that is certain: a response may be built before the server begins to stop, and sent
    /// after it.
    fileprivate var endsWithResponse: Bool {
        (isQuiescing || connections.isStopping) && responses + 1 == requests
    }

    fileprivate func responseBegan(_ head: HTTPResponse, _ context: ChannelHandlerContext) {
        let length = head.headerFields[.contentLength].flatMap { Int64($0) } ?? longestBody
        responseDeadline = deadline(in: times.time(for: length), context)
    }

    fileprivate func responseEnded(_ context: ChannelHandlerContext) {
        responses += 1
        responseDeadline = nil
        connections.release(context.channel)
        guard responses == requests else { return }
        switch phase {
        case .responding: phase = .idle
        case .body: requestDeadline = deadline(in: times.lingering, context)
        case .idle, .head: break
        }
    }
}

/// A channel handler that reports to the connection's guard where requests and responses begin and end.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var connection: ConnectionGuard?

    func handlerAdded(context: ChannelHandlerContext) {
        // A connection without a guard is not counted.
        connection = try? context.pipeline.syncOperations.handler(type: ConnectionGuard.self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): connection?.requestBegan(head, context)
        case .body: break
        case .end: connection?.requestEnded()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            connection?.responseBegan(head, context)
            guard connection?.endsWithResponse == true, head.status.kind != .informational else {
                break
            }
            head.headerFields[.connection] = "close"
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let loopBound = NIOLoopBound((connection, context), eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                let (connection, context) = loopBound.value
                connection?.responseEnded(context)
            }
            return context.write(data, promise: written)
        }
        context.write(data, promise: promise)
    }
}
