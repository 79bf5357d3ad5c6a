#if S3
package import AsyncHTTPClient
package import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends requests to S3 over HTTP.
package struct HTTPS3Transport: S3Transport {
    private let client: HTTPClient

    /// Creates a transport over a client.
    package init(client: HTTPClient) { self.client = client }

    package func send(_ request: S3SignedRequest) async throws -> S3Response {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        switch request.body {
        case .bytes(let data):
            // Without a body of its own, PUT and POST have a length of 0, which S3 demands.
            if !data.isEmpty || request.method != "GET" && request.method != "HEAD" {
                message.body = .bytes(ByteBuffer(bytes: data))
            }
        case .file(let file, let range, _):
            message.body = .stream(
                SpoolPieces(file: file, range: range),
                length: .known(request.body.count)
            )
        }
        // The configuration's times for silence apply instead: a large part takes its time.
        let response = try await client.execute(message, deadline: .distantFuture)
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        let body = ResponseBody(response.body)
        return S3Response(status: Int(response.status.code), headers: headers) {
            try await body.next()
        }
    }

    /// The client of the process, which lives as long as it.
    package static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: configuration
    )

    /// Returns the configuration of clients for S3.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            // A request that was redirected would have the signature of another one.
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(60), write: .seconds(60))
        )
        // Lost connections are noticed at once, and tried again within a budget.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.httpVersion = .http1Only
        return configuration
    }
}

/// Reads the body of a response, piece by piece.
private actor ResponseBody {
    private var iterator: HTTPClientResponse.Body.AsyncIterator

    init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

    func next() async throws -> Data? {
        var own = iterator
        let piece = try await own.next(isolation: self)
        iterator = own
        return piece.map { Data($0.readableBytesView) }
    }
}

/// A part of a file, read while it is sent.
package struct SpoolPieces: AsyncSequence, Sendable {
    package let file: SpoolFile
    package let range: Range<Int64>

    package init(file: SpoolFile, range: Range<Int64>) {
        self.file = file
        self.range = range
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let file: SpoolFile
        fileprivate var rest: Range<Int64>

        package mutating func next() async throws -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            let count = Swift.min(SpoolFile.pieceBytes, rest.count)
            let data = try file.read(at: rest.lowerBound, count: count)
            rest = (rest.lowerBound + Int64(data.count))..<rest.upperBound
            return ByteBuffer(bytes: data)
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, rest: range) }
}
#endif
