import AsyncHTTPClient
import CloudKitWebClient
import Foundation
import NIOCore
import NIOPosix
import Testing

@Suite("Time without a byte", .timeLimit(.minutes(10)))
struct TimeoutTests {
    private func request(_ port: Int, timeout: Double) -> TransportRequest {
        TransportRequest(
            method: "POST",
            url: "http://127.0.0.1:\(port)/database/1/c/development/private/records/query",
            body: Data("{}".utf8),
            timeout: timeout
        )
    }

    private func code(_ call: () async throws -> Void) async -> TransportError.Code? {
        await #expect(throws: TransportError.self) { try await call() }?.code
    }

    @Test(
        "The clients of the process watch over no silence of their own, whatever the request says"
    )
    func noOtherLimit() {
        let configuration = HTTPClients.configuration()
        #expect(configuration.timeout.read == nil)
        #expect(configuration.timeout.write == nil)
    }

    @Test(
        "A body that stalls ends a request after the request's own time, and a file's after its own"
    )
    func stalledBody() async throws {
        try await ReplyServer.run { _ in
            .half("half of it")
        } _: { port, _ in
            let sent = await code {
                _ = try await HTTPTransport().send(request(port, timeout: 0.2))
            }
            #expect(sent == .timedOut)
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            let downloaded = await code {
                try await HTTPTransport().download(
                    "http://127.0.0.1:\(port)/f",
                    to: file,
                    size: 100,
                    timeout: 0.2,
                    progress: { _ in }
                )
            }
            #expect(downloaded == .timedOut)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test("An upload whose server is silent ends after its own time")
    func silentUpload() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(count: 3_000_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await ReplyServer.run { _ in
            .silence
        } _: { port, _ in
            let code = await code {
                _ = try await HTTPTransport().upload(
                    file,
                    to: "http://127.0.0.1:\(port)/f",
                    timeout: 0.2,
                    progress: { _ in }
                )
            }
            #expect(code == .timedOut)
        }
    }

    @Test("A response that goes on takes as long as it takes")
    func slowResponse() async throws {
        // The whole takes longer than the server may be silent.
        try await ReplyServer.run { _ in
            .drip(.milliseconds(100), 60)
        } _: { port, _ in
            let response = try await HTTPTransport().send(request(port, timeout: 4))
            #expect(response.body.count == 61)
        }
    }

    @Test("A long body that goes out piece by piece takes as long as it takes")
    func slowBody() async throws {
        // The server reads slowly for longer than a request may be silent, and then as fast as it
        // can: while it reads the last bytes in the sockets, none are sent.
        let length = 64 << 20
        try await ReplyServer.run(slowFor: .seconds(12)) { _ in
            .response(200, "{}")
        } _: { port, server in
            var request = request(port, timeout: 10)
            request.body = Data(count: length)
            let response = try await HTTPTransport().send(request)
            #expect(response.status == 200)
            #expect(server.requests.first?.body.readableBytes == length)
        }
    }

    /// Runs a body with one connection at a time, and shuts its client down whatever the body throws.
    private func withOneConnection(
        _ body: (HTTPTransport) async throws -> Void
    ) async throws {
        let http = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            try await body(HTTPTransport(client: http, connectionsPerHost: 1))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    @Test("The time in which no connection is free is not the request's")
    func waitingForConnection() async throws {
        // Ten simultaneous requests over one connection: the last one waits for longer than it may be
        // silent.
        try await withOneConnection { transport in
            try await ReplyServer.run { _ in
                .late(.milliseconds(500), "{}")
            } _: { port, server in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<10 {
                        group.addTask { try await transport.send(request(port, timeout: 4)) }
                    }
                    for try await response in group { #expect(response.status == 200) }
                }
                #expect(server.requests.count == 10)
            }
        }
    }

    @Test("Waiting for a connection has a limit of its own, which the error names")
    func noConnection() async throws {
        try await withOneConnection { transport in
            var transport = transport
            transport.connectionTimeout = 0.2
            try await ReplyServer.run { _ in
                .silence
            } _: { [transport] port, server in
                let (begun, begin) = AsyncStream<Void>.makeStream()
                let first = Task {
                    begin.yield()
                    return try await transport.send(request(port, timeout: .infinity))
                }
                for await _ in begun { break }
                while server.requests.isEmpty { await Task.yield() }
                let error = await #expect(throws: TransportError.self) {
                    _ = try await transport.send(request(port, timeout: .infinity))
                }
                #expect(error?.code == .unreachable)
                #expect(error?.message.contains("became free in 0.2 seconds") == true)
                // A request that is cancelled in the line leaves it, and one in flight leaves the
                // connection.
                let waiting = Task { try await transport.send(request(port, timeout: 4)) }
                waiting.cancel()
                await #expect(throws: TransportError.self) { _ = try await waiting.value }
                first.cancel()
                await #expect(throws: TransportError.self) { _ = try await first.value }
            }
        }
    }

    @Test("Two hundred calls at once all come back, each with little time of its own")
    func manyCalls() async throws {
        try await ReplyServer.run { _ in
            .late(.milliseconds(100), "{}")
        } _: { port, _ in
            let transport = HTTPTransport()
            try await withThrowingTaskGroup { group in
                for _ in 0..<200 {
                    group.addTask { try await transport.send(request(port, timeout: 5)) }
                }
                for try await response in group { #expect(response.status == 200) }
            }
        }
    }
}
