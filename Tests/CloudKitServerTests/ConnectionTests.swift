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
}
