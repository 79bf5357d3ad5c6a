import NIOCore
import NIOHTTP1

/// Makes a second `Host` of the host in a request's target, where that is another one: it would go
/// before `Host` (RFC 9112, 3.2.2), and what reads requests after this handler no longer sees it.
final class TargetGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Stands behind what makes requests of bytes.
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

    /// Whether the target is a path, or an address of the host that `Host` names.
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        if head.uri.hasPrefix("/") || (head.uri == "*" && head.method == .OPTIONS) { return true }
        // Without a host the request is refused for that.
        guard let text = head.headers.first(name: "Host") else { return true }
        guard let origin = WebOrigin(ofAddress: head.uri),
            ["http", "https"].contains(origin.scheme),
            let host = HostName(text)
        else { return false }
        return origin.host.name == host.name && origin.host.port == (host.port ?? origin.port)
    }
}
