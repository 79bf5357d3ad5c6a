import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
public import ServerFixtures

/// A connection to a service through its HTTP adapter.
public struct HTTPConnection: ConformanceConnection {
    private let url: String

    /// Creates a connection to the server at an address.
    public init(url: String) {
        self.url = url
    }

    public func send(_ request: ConformanceRequest) async throws -> FixtureCloud.Response {
        var message = HTTPClientRequest(url: url + request.target)
        message.method = .RAW(value: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        let received = try await HTTPClient.shared.execute(message, timeout: .seconds(60))
        let bytes = try await received.body.collect(upTo: 100 << 20)
        let status = Int(received.status.code)
        if received.headers.first(name: "Content-Type") == "application/octet-stream" {
            return FixtureCloud.Response(status: status, bytes: Data(bytes.readableBytesView))
        }
        var response = FixtureCloud.Response(status: status, bytes: Data())
        response.body = bytes.readableBytes == 0 ? .null : try JSON(Data(bytes.readableBytesView))
        for header in received.headers { response.headers[header.name] = header.value }
        return response
    }
}
