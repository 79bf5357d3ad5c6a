import CloudKitWebClient
import Foundation
import NIOCore
import NIOPosix
import Testing

@Suite("HTTP as a transport")
struct HTTPTransportTests {
    /// Runs a test with a port of the loopback interface on which nothing listens: it was free a
    /// moment ago, and is held without listening while the test runs.
    private func withClosedPort<Result>(
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let socket = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(socket.localAddress?.port)
        let result = try await body(port)
        try await socket.close().get()
        return result
    }

    @Test("A server that is not there is named in the error")
    func unreachable() async throws {
        try await withClosedPort { port in
            let error = await #expect(throws: TransportError.self) {
                _ = try await HTTPTransport().send(
                    TransportRequest(method: "GET", url: "http://127.0.0.1:\(port)/x?secret=1")
                )
            }
            #expect(error?.code == .unreachable, "\(String(describing: error))")
            #expect(error?.message.contains("http://127.0.0.1:\(port)") == true)
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test("A server that hangs up in the middle is a broken connection, not a missing server")
    func broken() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in channel.close() }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let error = await #expect(throws: TransportError.self) {
            _ = try await HTTPTransport().send(
                TransportRequest(method: "POST", url: "http://127.0.0.1:\(port)/", body: Data([1]))
            )
        }
        #expect(error?.code == .broken)
        #expect(error?.message.contains("127.0.0.1:\(port)") == true)
        try await server.close().get()
    }

    @Test("A server that never responds is given up after the request's time")
    func late() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let error = await #expect(throws: TransportError.self) {
            _ = try await HTTPTransport().send(
                TransportRequest(method: "GET", url: "http://127.0.0.1:\(port)/", timeout: 0.2)
            )
        }
        #expect(error?.code == .timedOut)
        try await server.close().get()
    }

    @Test("A missing file to upload is named in the error")
    func missingFile() async {
        let error = await #expect(throws: TransportError.self) {
            _ = try await HTTPTransport().upload(
                URL(fileURLWithPath: "/no/such/file"),
                to: "http://127.0.0.1:1/",
                progress: { _ in }
            )
        }
        #expect(error?.code == .fileNotFound)
        #expect(error?.message.contains("/no/such/file") == true)
    }
}
