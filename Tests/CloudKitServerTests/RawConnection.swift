import Foundation
import NIOCore
import NIOPosix
import Testing

/// A connection on which a test sends arbitrary bytes, and reads responses or does not.
struct RawConnection: ~Copyable {
    /// A response as received.
    struct Response {
        var status: Int
        var head: String
        var body: String
    }

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var rest = ""
    let channel: any Channel

    /// Runs a test on a new connection to a server, and closes it.
    static func run<Value>(
        _ server: TestServer,
        _ body: (inout RawConnection) async throws -> Value
    ) async throws -> Value {
        let channel = try await connect(server)
        return try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(
                outbound: outbound,
                inbound: inbound.makeAsyncIterator(),
                channel: channel.channel
            )
            return try await body(&connection)
        }
    }

    private static func connect(
        _ server: TestServer
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let port = try #require(URL(string: server.url)?.port)
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            // Unread data must stay at the server.
            .channelOption(.socketOption(.so_rcvbuf), value: 16 * 1024)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
    }

    private init(
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        channel: any Channel
    ) {
        self.outbound = outbound
        self.inbound = inbound
        self.channel = channel
    }

    /// Sends text.
    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Sends a request, as far as its body is given.
    func send(
        _ method: String,
        _ target: String,
        _ headers: [String] = ["Host: 127.0.0.1"],
        body: String = "",
        length: Int? = nil
    ) async throws {
        let lines = headers + ["Content-Length: \(length ?? body.utf8.count)"]
        try await send(
            "\(method) \(target) HTTP/1.1\r\n\(lines.joined(separator: "\r\n"))\r\n\r\n\(body)"
        )
    }

    /// Closes the sending side.
    func finish() { outbound.finish() }

    /// Returns the next response, or its head if it is to a HEAD request; nil if the connection
    /// ends without one.
    mutating func response(hasBody: Bool = true) async throws -> Response? {
        while true {
            if let response = takeResponse(hasBody) { return response }
            guard let part = try await inbound.next(isolation: #isolation) else { return nil }
            rest += String(buffer: part)
        }
    }

    private mutating func takeResponse(_ hasBody: Bool) -> Response? {
        guard let end = rest.firstRange(of: "\r\n\r\n") else { return nil }
        let head = String(rest[..<end.lowerBound])
        let lines = head.split(separator: "\r\n")
        let said =
            lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].filter { !$0.isWhitespace }) }
        let length = hasBody ? said ?? 0 : 0
        let body = rest[end.upperBound...]
        guard body.utf8.count >= length else { return nil }
        let text = String(decoding: body.utf8.prefix(length), as: UTF8.self)
        rest = String(decoding: body.utf8.dropFirst(length), as: UTF8.self)
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return Response(status: status ?? 0, head: head, body: text)
    }
}

/// The time in which the other end must close a connection; after it this end does, so that no test
/// waits forever.
struct ClosingLimit {
    private let end: Scheduled<Void>

    init(_ channel: any Channel, _ time: TimeAmount = .seconds(30)) {
        end = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    /// Ends the limit; returns whether the other end was in time.
    func isKept() async -> Bool {
        end.cancel()
        return (try? await end.futureResult.get()) == nil
    }
}

extension TestServer {
    /// Returns the path and the query of an endpoint.
    func target(_ endpoint: String) -> String {
        String(self.endpoint(endpoint).dropFirst(url.count))
    }
}
