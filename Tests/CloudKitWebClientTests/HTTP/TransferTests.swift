import CloudKitWebClient
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Transfers of files that do not reach their end, over sockets.
@Suite("Transfers that end early", .timeLimit(.minutes(10)))
struct TransferTests {
    /// The end of a server's response after its first half.
    fileprivate enum End {
        case silence, hangUp, rest
    }

    /// Runs a server that responds to any request with half a file, or with nothing at all.
    private func withServer(
        answering half: Int,
        then end: End,
        _ body: (String) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HalfResponse(half, end))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        do {
            try await body("http://127.0.0.1:\(port)/file")
        } catch {
            try await server.close().get()
            throw error
        }
        try await server.close().get()
    }

    /// Runs a test with its own directory.
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    private func contents(of directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
    }

    /// Returns the error of a transfer that is cancelled as soon as it has reported some progress.
    private func cancelled(
        _ transfer: @escaping @Sendable (@escaping TransferProgress) async throws -> Void
    ) async throws -> TransportError? {
        let (reports, report) = AsyncStream<Double>.makeStream()
        let task = Task { try await transfer { report.yield($0) } }
        for await fraction in reports where fraction > 0 { break }
        task.cancel()
        return await #expect(throws: TransportError.self) { try await task.value }
    }

    @Test("A download that is cancelled in the middle says so, and leaves no file")
    func cancelledDownload() async throws {
        try await withDirectory { directory in
            try await withServer(answering: 300_000, then: .silence) { url in
                let file = directory.appendingPathComponent("f")
                let error = try await cancelled { progress in
                    try await HTTPTransport().download(url, to: file, progress: progress)
                }
                #expect(error?.code == .cancelled, "\(String(describing: error))")
                #expect(try contents(of: directory).isEmpty)
            }
        }
    }

    @Test("An upload that is cancelled in the middle says so, and leaves its file alone")
    func cancelledUpload() async throws {
        try await withDirectory { directory in
            try await withServer(answering: 0, then: .silence) { url in
                let file = directory.appendingPathComponent("f")
                try Data(count: 3_000_000).write(to: file)
                let error = try await cancelled { progress in
                    _ = try await HTTPTransport().upload(file, to: url, progress: progress)
                }
                #expect(error?.code == .cancelled, "\(String(describing: error))")
                #expect(try Data(contentsOf: file).count == 3_000_000)
            }
        }
    }

    @Test("What is cancelled before it begins says so too")
    func cancelledBefore() async throws {
        try await withDirectory { directory in
            let there = directory.appendingPathComponent("there")
            try Data(count: 10).write(to: there)
            let file = directory.appendingPathComponent("f")
            let url = "http://127.0.0.1:1/"
            let calls: [@Sendable () async throws -> Void] = [
                { try await HTTPTransport().download(url, to: file, progress: { _ in }) },
                { _ = try await HTTPTransport().upload(there, to: url, progress: { _ in }) },
                { _ = try await HTTPTransport().send(TransportRequest(method: "GET", url: url)) },
            ]
            for call in calls {
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await call()
                }
                let error = await #expect(throws: TransportError.self) { try await task.value }
                #expect(error?.code == .cancelled, "\(String(describing: error))")
            }
            #expect(try contents(of: directory) == ["there"])
        }
    }

    @Test("A download whose server hangs up is broken, not complete, and leaves no file")
    func cutDownload() async throws {
        try await withDirectory { directory in
            try await withServer(answering: 300_000, then: .hangUp) { url in
                let error = await #expect(throws: TransportError.self) {
                    try await HTTPTransport().download(
                        url,
                        to: directory.appendingPathComponent("f"),
                        progress: { _ in }
                    )
                }
                #expect(error?.code == .broken, "\(String(describing: error))")
                let left = try contents(of: directory)
                #expect(left.isEmpty)
            }
        }
    }

    @Test("A download never touches a file that is already there")
    func occupied() async throws {
        try await withDirectory { directory in
            let file = directory.appendingPathComponent("f")
            try Data("mine".utf8).write(to: file)
            try await withServer(answering: 1_000, then: .rest) { url in
                let error = await #expect(throws: TransportError.self) {
                    try await HTTPTransport().download(url, to: file, progress: { _ in })
                }
                #expect(error?.code == .fileUnusable, "\(String(describing: error))")
                #expect(error?.message.contains(file.path) == true)
                let there = try Data(contentsOf: file)
                #expect(there == Data("mine".utf8))
            }
            #expect(try contents(of: directory) == ["f"])
        }
    }

    @Test("A transport of another make may end with any error: it is cancelled or broken")
    func foreignTransport() async throws {
        for (thrown, code) in [
            (CancellationError() as any Error, TransportError.Code.cancelled),
            (POSIXError(.EPIPE), .broken),
        ] {
            let client = WebClient(
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "t"),
                transport: Throwing(error: thrown)
            )
            let error = await #expect(throws: WebClientError.self) { try await client.caller() }
            guard case .transport(let failure) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(failure.code == code)
        }
    }
}

/// Responds to the first bytes of a request with half a file.
private final class HalfResponse: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let half: Int
    private let end: TransferTests.End
    private var hasAnswered = false

    init(_ half: Int, _ end: TransferTests.End) {
        self.half = half
        self.end = end
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered, half > 0 else { return }
        hasAnswered = true
        var response = ByteBuffer(
            string: "HTTP/1.1 200 OK\r\ncontent-length: \(2 * half)\r\n\r\n"
        )
        response.writeRepeatingByte(7, count: end == .rest ? 2 * half : half)
        let sent = context.writeAndFlush(wrapOutboundOut(response))
        guard end == .hangUp else { return }
        let channel = context.channel
        sent.whenComplete { _ in channel.close(promise: nil) }
    }
}

private struct Throwing: Transport {
    let error: any Error

    func send(_ request: TransportRequest) async throws -> TransportResponse { throw error }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse { throw error }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws { throw error }
}
