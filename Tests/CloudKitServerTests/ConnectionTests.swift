import CloudKitServer
import Logging
import NIOCore
import NIOEmbedded
import Testing

@Suite("Connections of the server", .timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test("A connection that a server which ends has accepted and not handled is closed")
    func dropped() async throws {
        let connection = NIOAsyncTestingChannel()
        try await connection.connect(to: .init(ipAddress: "127.0.0.1", port: 1))
        let http = ClosingHTTP1Channel { _, _, channel in
            Issue.record("Nobody asked")
            try await channel.close()
        }
        let logger = Logger(label: "test")
        _ = try await connection.testingEventLoop.submit {
            http.setup(channel: connection, logger: logger).map { _ in }
        }.get().get()
        try await connection.closeFuture.get()
    }

    // The library that runs the server locks while it changes threads: where its tasks prefer threads of ours, a
    // cancellation in that moment stopped both permanently, about once in some thousand times.
    @Test("A server that cannot listen ends, in whatever order its tasks run")
    func ending() async throws {
        var configuration = CloudServer.Configuration()
        configuration.host = "192.0.2.1"
        let server = try CloudServer(configuration: configuration)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        await #expect(throws: ServerConfigurationError.self) {
                            try await server.run()
                        }
                    }
                }
            }
        }
    }

    @Test("A head that comes byte by byte ends its connection when its time is over")
    func deadline() throws {
        let connections = Connections(
            .init(all: 10, perAddress: 10, countsLoopback: true, responseBytes: 1 << 20)
        )
        let times = ConnectionGuard.Times(request: .seconds(60))
        let channel = EmbeddedChannel(
            handler: ConnectionGuard(connections, times, longestBody: 1000)
        )
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        // Nothing has arrived that could be late.
        channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
        #expect(channel.isActive)
        for _ in 0..<59 {
            try channel.writeInbound(ByteBuffer(string: "P"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "P"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
