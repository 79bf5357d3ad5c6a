import CloudKit
import CloudKitWebClient
import Crypto
import Foundation
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing

/// Downloads of assets from servers that send something else, over sockets.
@Suite("A download is the asset, or an error and no file", .timeLimit(.minutes(10)))
struct DownloadTests {
    private static let contents = String(repeating: "asset", count: 20_000)
    private static let size = Int64(contents.utf8.count)
    private static let checksum = sum(contents)

    private static func sum(_ text: String) -> String {
        Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }

    /// Returns the outcome of a download into its own folder.
    private func download(
        _ asset: WireAsset,
        service: String = "http://cloud.invalid",
        over transport: any Transport = HTTPTransport()
    ) async throws -> (bytes: Data?, error: WebClientError?) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("f")
        let client = WebClient(
            url: service,
            container: "c",
            environment: .development,
            credentials: WebCredentials(apiToken: "t"),
            transport: transport
        )
        do {
            try await client.download(asset, to: file)
            return (try Data(contentsOf: file), nil)
        } catch let error as WebClientError {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            return (nil, error)
        }
    }

    private func asset(
        _ url: String,
        size: Int64? = Self.size,
        checksum: String? = Self.checksum
    ) -> WireAsset {
        WireAsset(fileChecksum: checksum, size: size, downloadURL: url)
    }

    private func expectOversized(
        _ error: WebClientError?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let error = try #require(error, sourceLocation: sourceLocation)
        guard case .transport(let failure) = error, failure.code == .oversized else {
            Issue.record("\(error)", sourceLocation: sourceLocation)
            return
        }
        #expect(CKError.make(error).code == .serverResponseLost, sourceLocation: sourceLocation)
    }

    @Test("A server that never ends is left as soon as it has sent more than the asset")
    func endless() async throws {
        try await EndlessServer.run { url, server in
            try expectOversized(try await download(asset(url)).error)
            // Without a size, nothing is accepted.
            try expectOversized(try await download(asset(url, size: nil)).error)
            try expectOversized(try await download(asset(url, size: 0)).error)
            #expect(server.sent < EndlessServer.end)
        }
    }

    @Test("More or fewer bytes than the asset has are no asset")
    func wrongSize() async throws {
        let contents = Self.contents
        for text in [contents + "x", String(contents.dropLast()), ""] {
            try await ReplyServer.run { _ in
                .response(200, text)
            } _: { port, _ in
                let (_, error) = try await download(asset("http://127.0.0.1:\(port)/f"))
                if text.utf8.count > contents.utf8.count { return try expectOversized(error) }
                guard case .unexpectedResponse(200, let message, nil) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(message == "An asset of \(Self.size) bytes arrived with \(text.utf8.count)")
            }
        }
    }

    @Test("Other bytes of the same number are found by the checksum, where its algorithm is known")
    func checksums() async throws {
        let contents = Self.contents
        try await ReplyServer.run { _ in
            .response(200, contents)
        } _: { port, _ in
            let url = "http://127.0.0.1:\(port)/f"
            // Apple's have 21 bytes, and invalid base64 is ignored.
            for checksum in [Self.checksum, "AQIDBAUGBwgJCgsMDQ4PEBESExQV", "%%%", "", nil] {
                let (bytes, error) = try await download(asset(url, checksum: checksum))
                #expect(bytes == Data(contents.utf8))
                #expect(error == nil)
            }
            let other = asset(url, checksum: Self.sum("other"))
            let (_, error) = try await download(other)
            guard case .unexpectedResponse(200, let message, nil) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("checksum"))
            let apples = try await download(other, service: WebClient.appleURL)
            #expect(apples.bytes == Data(contents.utf8))
        }
    }

    @Test("A file that cannot be read is no asset where its checksum could show")
    func unreadable() async throws {
        let (_, error) = try await download(asset("http://h/f"), over: NoFileTransport())
        guard case .transport(let failure) = error, failure.code == .fileUnusable else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.message.contains("cannot be read"))
    }

    @Test(
        "An address that nothing can be asked of is the server's mistake",
        arguments: ["", "file:///etc/passwd", "/f", "http://h/a b", "http://h:99999/f"]
    )
    func addresses(_ url: String) async throws {
        let error = try #require(try await download(asset(url)).error)
        #expect(CKError.make(error).code == .serverResponseLost)
        #expect(error.description.contains("address of a file"), "\(error)")
    }

    @Test("What the disk cannot hold, or nothing can have, is not begun", arguments: [1 << 62, -1])
    func impossibleSizes(_ size: Int64) async throws {
        let transport = ScriptedTransport { _, _ in TransportResponse(status: 200) }
        let (_, error) = try await download(asset("http://h/f", size: size), over: transport)
        #expect(error?.description.contains("\(size) bytes") == true)
        #expect(transport.requests.isEmpty)
    }
}

/// A transport that reports a file, but writes none.
private struct NoFileTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(status: 200)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        TransportResponse(status: 200)
    }

    func download(_ url: String, to file: URL, progress: @escaping TransferProgress) async throws {
        progress(1)
    }
}

/// A server whose responses are endless, except for a test that would read them.
private final class EndlessServer: Sendable {
    /// The bytes after which a server gives up.
    static let end = 64 << 20

    private let counter = Mutex(0)

    /// The number of bytes that were written to connections.
    var sent: Int { counter.withLock { $0 } }

    static func run(_ body: (String, EndlessServer) async throws -> Void) async throws {
        let server = EndlessServer()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            try await body("http://127.0.0.1:\(port)/f", server)
            try await channel.close().get()
        } catch {
            try await channel.close().get()
            throw error
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private static let chunk = 1 << 16
        private let server: EndlessServer
        private var hasBegun = false

        init(_ server: EndlessServer) {
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasBegun else { return }
            hasBegun = true
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
            context.write(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
            send(context)
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            if hasBegun { send(context) }
        }

        private func send(_ context: ChannelHandlerContext) {
            while context.channel.isWritable, context.channel.isActive,
                server.sent < EndlessServer.end
            {
                var bytes = ByteBuffer(string: "\(String(Self.chunk, radix: 16))\r\n")
                bytes.writeRepeatingByte(7, count: Self.chunk)
                bytes.writeString("\r\n")
                server.counter.withLock { $0 += bytes.readableBytes }
                context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            }
            // A client that read everything does not wait for more.
            if server.sent >= EndlessServer.end { context.close(promise: nil) }
        }
    }
}
