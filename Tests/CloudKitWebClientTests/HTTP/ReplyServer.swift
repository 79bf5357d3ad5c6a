import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import Testing

/// A server on the loopback interface that responds to each request as a test specifies.
final class ReplyServer: Sendable {
    /// A received request.
    struct Request: Sendable {
        let head: HTTPRequestHead
        var body = ByteBuffer()

        /// The request's line and header fields.
        var text: String { "\(head.method) \(head.uri) \(head.headers)" }
    }

    /// A response.
    enum Reply: Sendable {
        /// A whole response.
        case response(Int, String, [(String, String)] = [])
        /// A whole response after a delay.
        case late(TimeAmount, String)
        /// Only the first half of a response.
        case half(String)
        /// A byte of the response, repeatedly, for as long as the connection lasts.
        case drip(TimeAmount, Int)
        /// Nothing.
        case silence
        /// The end of the connection.
        case hangUp
    }

    private let received = Mutex<[Request]>([])

    /// The requests so far.
    var requests: [Request] { received.withLock { $0 } }

    private func note(_ request: Request) { received.withLock { $0.append(request) } }

    /// Runs a server for a test, which receives its port; at first it may read slowly, some two
    /// megabytes per second.
    static func run<Success>(
        tls: NIOSSLContext? = nil,
        slowFor time: TimeAmount? = nil,
        _ reply: @escaping @Sendable (Request) -> Reply,
        _ body: (Int, ReplyServer) async throws -> Success
    ) async throws -> Success {
        let server = ReplyServer()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        // Otherwise the system itself buffers tens of megabytes for a server that does not read.
        let slow = bootstrap.serverChannelOption(.socketOption(.so_rcvbuf), value: 1 << 18)
        let channel = try await (time == nil ? bootstrap : slow)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: time == nil)
            .childChannelOption(.maxMessagesPerRead, value: UInt(time == nil ? 4 : 1))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let time { readSlowly(channel, until: .now() + time) }
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Handler(server, reply))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            let result = try await body(port, server)
            try await channel.close().get()
            return result
        } catch {
            try await channel.close().get()
            throw error
        }
    }

    private static func readSlowly(_ channel: any Channel, until end: NIODeadline) {
        channel.eventLoop.scheduleTask(in: .milliseconds(30)) {
            guard channel.isActive else { return }
            guard NIODeadline.now() < end else {
                return channel.setOption(.autoRead, value: true).whenFailure { _ in
                    channel.close(promise: nil)
                }
            }
            channel.read()
            readSlowly(channel, until: end)
        }
    }

    /// Returns a server's context with the tests' certificate; it may require a client's.
    static func tls(asksForCertificate: Bool = false) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try certificate(TestAuthority.server))],
            privateKey: .privateKey(try key(TestAuthority.serverKey))
        )
        if asksForCertificate {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([try certificate(TestAuthority.certificate)])
        }
        return try NIOSSLContext(configuration: configuration)
    }

    static func certificate(_ pem: String) throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem)
    }

    static func key(_ pem: String) throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: ReplyServer
        private let reply: @Sendable (Request) -> Reply
        private var request: Request?

        init(_ server: ReplyServer, _ reply: @escaping @Sendable (Request) -> Reply) {
            self.server = server
            self.reply = reply
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): request = Request(head: head)
            case .body(var bytes): request?.body.writeBuffer(&bytes)
            case .end:
                guard let request else { return }
                self.request = nil
                server.note(request)
                carryOut(reply(request), context.channel)
            }
        }

        private func carryOut(_ reply: Reply, _ channel: any Channel) {
            switch reply {
            case .response(let status, let text, let fields):
                Self.send(channel, status, text, fields: fields)
            case .late(let wait, let text):
                channel.eventLoop.scheduleTask(in: wait) { Self.send(channel, 200, text) }
            case .half(let text):
                Self.send(channel, 200, text, length: 2 * text.utf8.count)
            case .drip(let pause, let count):
                Self.send(channel, 200, "1", length: count + 1)
                Self.drip(channel, pause, count)
            case .silence: break
            case .hangUp: channel.close(promise: nil)
            }
        }

        private static func drip(_ channel: any Channel, _ pause: TimeAmount, _ left: Int) {
            guard left > 0 else {
                return channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            }
            channel.eventLoop.scheduleTask(in: pause) {
                let byte = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "1")))
                channel.writeAndFlush(byte, promise: nil)
                drip(channel, pause, left - 1)
            }
        }

        private static func send(
            _ channel: any Channel,
            _ status: Int,
            _ text: String,
            length: Int? = nil,
            fields: [(String, String)] = []
        ) {
            var headers = HTTPHeaders(fields)
            headers.add(name: "Content-Length", value: "\(length ?? text.utf8.count)")
            let head = HTTPResponseHead(
                version: .http1_1,
                status: HTTPResponseStatus(statusCode: status),
                headers: headers
            )
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            let body = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text)))
            channel.writeAndFlush(body, promise: nil)
            guard length == nil else { return }
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        }
    }
}
