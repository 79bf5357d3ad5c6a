import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

/// A server on the loopback interface that responds with any bytes, valid in HTTP or not.
final class RawServer: Sendable {
    /// A part of a response.
    enum Step: Sendable {
        case send([UInt8])
        /// Sends each byte separately, with a pause after it.
        case drip([UInt8], TimeAmount)
        /// Ends the connection.
        case close

        static func text(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    private let received = Mutex<[String]>([])

    /// The heads of the requests so far.
    var requests: [String] { received.withLock { $0 } }

    /// Runs a server for a test, which receives its port; without steps it stays silent.
    ///
    /// - Parameters:
    ///   - tls: The server's certificate; nil for none.
    ///   - reads: Whether it reads requests.
    ///   - steps: The response to a request, by its number.
    static func run<Success>(
        tls: NIOSSLContext? = nil,
        reads: Bool = true,
        _ steps: @escaping @Sendable (Int) -> [Step],
        _ body: (Int, RawServer) async throws -> Success
    ) async throws -> Success {
        let server = RawServer()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: reads)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(Handler(server, steps))
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

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let server: RawServer
        private let steps: @Sendable (Int) -> [Step]
        private var text = ""

        init(_ server: RawServer, _ steps: @escaping @Sendable (Int) -> [Step]) {
            self.server = server
            self.steps = steps
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            // Bodies are short: they are not examined, whether they arrive with the head or after it.
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.range(of: "\r\n\r\n") else { return }
            let head = String(text[..<end.lowerBound])
            text = ""
            let index = server.received.withLock { received in
                received.append(head)
                return received.count - 1
            }
            Self.carryOut(steps(index)[...], context.channel)
        }

        private static func carryOut(_ steps: ArraySlice<Step>, _ channel: any Channel) {
            guard let step = steps.first else { return }
            let rest = steps.dropFirst()
            switch step {
            case .send(let bytes):
                channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenSuccess {
                    carryOut(rest, channel)
                }
            case .drip(let bytes, let pause):
                guard let first = bytes.first else { return carryOut(rest, channel) }
                channel.writeAndFlush(ByteBuffer(bytes: [first]), promise: nil)
                let left = Step.drip(Array(bytes.dropFirst()), pause)
                channel.eventLoop.scheduleTask(in: pause) { carryOut([left] + rest, channel) }
            case .close: channel.close(promise: nil)
            }
        }
    }
}
