import NIOCore
import NIOPosix
import Synchronization
import Testing

/// A proxy on the loopback interface that opens tunnels for `CONNECT` requests with its password.
final class TestProxy: Sendable {
    private let asked = Mutex<[String]>([])

    /// The targets of tunnels, as the client named them.
    var tunnels: [String] { asked.withLock { $0 } }

    /// Runs a proxy for a test, which receives its port.
    ///
    /// - Parameter authorization: The required value of `Proxy-Authorization`; nil for none.
    static func run<Success>(
        authorization: String? = nil,
        _ body: (Int, TestProxy) async throws -> Success
    ) async throws -> Success {
        let proxy = TestProxy()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = Tunnel(proxy, authorization)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            let result = try await body(port, proxy)
            try await channel.close().get()
            return result
        } catch {
            try await channel.close().get()
            throw error
        }
    }

    /// Reads the request, and then passes bytes on.
    private final class Tunnel: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let proxy: TestProxy
        private let authorization: String?
        private var request = ""
        private var isAsked = false
        private var target: (any Channel)?
        private var waiting: [ByteBuffer] = []

        init(_ proxy: TestProxy, _ authorization: String?) {
            self.proxy = proxy
            self.authorization = authorization
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if let target { return target.writeAndFlush(bytes, promise: nil) }
            guard !isAsked else { return waiting.append(bytes) }
            request += String(buffer: bytes)
            guard request.hasSuffix("\r\n\r\n") else { return }
            isAsked = true
            open(context.channel, context.eventLoop)
        }

        func channelInactive(context: ChannelHandlerContext) {
            target?.close(promise: nil)
            context.fireChannelInactive()
        }

        private func open(_ client: any Channel, _ eventLoop: any EventLoop) {
            let place = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let fields = request.lowercased()
            if let authorization,
                !fields.contains("proxy-authorization: \(authorization.lowercased())\r\n")
            {
                let refusal = "HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n"
                return client.writeAndFlush(ByteBuffer(string: refusal), promise: nil)
            }
            proxy.asked.withLock { $0.append(place) }
            let parts = place.split(separator: ":")
            let port = parts.last.flatMap { Int($0) } ?? 0
            let box = NIOLoopBound(self, eventLoop: eventLoop)
            ClientBootstrap(group: eventLoop)
                .channelInitializer { target in
                    target.eventLoop.makeCompletedFuture {
                        try target.pipeline.syncOperations.addHandler(Back(client))
                    }
                }
                // All names resolve to this machine.
                .connect(host: "127.0.0.1", port: port)
                .hop(to: eventLoop)
                .whenComplete { result in
                    guard case .success(let target) = result else {
                        return client.close(promise: nil)
                    }
                    let response = "HTTP/1.1 200 OK\r\n\r\n"
                    client.writeAndFlush(ByteBuffer(string: response), promise: nil)
                    box.value.target = target
                    for bytes in box.value.waiting { target.writeAndFlush(bytes, promise: nil) }
                }
        }
    }

    /// Passes on the bytes that the server sends.
    private final class Back: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let client: any Channel

        init(_ client: any Channel) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            client.close(promise: nil)
            context.fireChannelInactive()
        }
    }
}
