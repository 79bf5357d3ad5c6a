import Foundation
import NIOCore
import NIOPosix
import Testing

/// A request as bytes on a connection, for requests that HTTP libraries would not send.
struct RawRequest {
    var target: String
    var headers: [(name: String, value: String)]
    var body = ""

    /// The number of bytes that count toward the limit of all headers: target, names and values.
    var headerBytes: Int {
        headers.reduce(target.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// Sends the request to a server; returns the status, or nil if the connection ends without one.
    func status(from server: TestServer) async throws -> Int? {
        let port = try #require(URL(string: server.url)?.port)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        let bytes = ByteBuffer(string: "POST \(target) HTTP/1.1\r\n\(lines)\r\n\(body)")
        return try await channel.executeThenClose { inbound, outbound in
            // A server that refuses may close before everything is written.
            try? await outbound.write(bytes)
            var response = ""
            do {
                for try await part in inbound {
                    response += String(buffer: part)
                    if response.contains("\r\n") { break }
                }
            } catch {}
            return response.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
    }
}
