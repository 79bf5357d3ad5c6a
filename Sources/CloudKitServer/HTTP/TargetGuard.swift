import NIOCore
import NIOHTTP1

/// A handler that adds the host of a request's target as a second `Host` if the two differ.
///
/// That host would take precedence over `Host` (RFC 9112, 3.2.2), but code that reads requests
/// after this handler no longer sees it.
final class TargetGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Adds the handler after the one that decodes requests.
    static func add(to pipeline: ChannelPipeline) throws {
        let operations = pipeline.syncOperations
        let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try operations.addHandler(TargetGuard(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), !Self.namesOneHost(head) else {
            return context.fireChannelRead(data)
        }
        head.headers.add(name: "Host", value: "target")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Returns whether the target is a path, or an address with the same host as `Host`.
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        if head.uri.hasPrefix("/") || (head.uri == "*" && head.method == .OPTIONS) { return true }
        // A request without a host is refused for that reason.
        guard let text = head.headers.first(name: "Host") else { return true }
        guard let origin = WebOrigin(ofAddress: head.uri),
            ["http", "https"].contains(origin.scheme),
            let host = HostName(text)
        else { return false }
        return origin.host.name == host.name && origin.host.port == (host.port ?? origin.port)
    }
}
