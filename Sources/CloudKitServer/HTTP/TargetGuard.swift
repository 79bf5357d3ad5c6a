import CloudKitWire
import NIOCore
import NIOHTTP1

/// A handler that adds the host of a request's target as a second `Host` if the two differ, and
/// responds to input that is not an HTTP request.
///
/// That host would take precedence over `Host` (RFC 9112, 3.2.2), but code that reads requests
/// after this handler no longer sees it.
final class TargetGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// `true` between the head of a request and the end of its response.
    private var isResponding = false
    private var hasRefused = false

    /// Adds the handler after the one that decodes requests.
    static func add(to pipeline: ChannelPipeline) throws {
        let operations = pipeline.syncOperations
        let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try operations.addHandler(TargetGuard(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
        isResponding = true
        guard !Self.namesOneHost(head) else { return context.fireChannelRead(data) }
        head.headers.add(name: "Host", value: "target")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { isResponding = false }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The library ends a request that is being answered; it would refuse others with an empty body.
        guard error is HTTPParserError, !isResponding, !hasRefused else {
            return context.fireErrorCaught(error)
        }
        hasRefused = true
        refuse(context, "The request is not HTTP/1.1, or its head is too long (\(error))")
    }

    /// Sends the error of a request that cannot be read, and closes the connection.
    private func refuse(_ context: ChannelHandlerContext, _ reason: String) {
        let refusal = EarlyRefusal(.badRequest, RequestError(.badRequest, reason: reason))
        context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            loopBound.value.close(promise: nil)
        }
    }

    /// Returns whether the target is a path, or an address with the same host as `Host`.
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        if head.uri.hasPrefix("/") || (head.uri == "*" && head.method == .OPTIONS) { return true }
        // The method is refused, whatever its target.
        if head.method == .CONNECT { return true }
        // A request without a host is refused for that reason.
        guard let text = head.headers.first(name: "Host") else { return true }
        guard let origin = WebOrigin(ofAddress: head.uri),
            ["http", "https"].contains(origin.scheme),
            let host = HostName(text)
        else { return false }
        return origin.host.name == host.name && origin.host.port == (host.port ?? origin.port)
    }
}
