import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOFileSystem
import NIOHTTP1
import NIOHTTPCompression
import Synchronization

/// Carries requests over HTTP.
///
/// All transports of a process share one pool of connections.
public struct HTTPTransport: Transport {
    /// The largest answer that is read into memory: 200 records of 1 MB and what is around them.
    private static let largestBody = 256 * 1024 * 1024

    /// Lives as long as the process: a pool that is shut down by one user would fail the others.
    private static let client = makeClient()

    /// For requests that wait: they keep their connections for long, and must not keep them from
    /// others.
    private static let waitingClient = makeClient(connectionsPerHost: 1024)

    private static func makeClient(connectionsPerHost: Int? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(60)),
            decompression: .enabled(limit: .size(largestBody))
        )
        // A server that is not there is the caller's to know at once, and to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let connectionsPerHost {
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
                connectionsPerHost
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Makes a transport.
    public init() {}

    /// Sends a request and reads the whole answer.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(ByteBuffer(bytes: body)) }
        return try await execute(
            message,
            timeout: request.timeout,
            on: request.waits ? Self.waitingClient : Self.client
        )
    }

    /// Streams a file into a POST request.
    public func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        do {
            return try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file.path)) {
                handle in
                let size = try await handle.info().size
                var message = HTTPClientRequest(url: url)
                message.method = .POST
                message.headers.add(name: "Content-Type", value: "application/octet-stream")
                let sent = Mutex<Int64>(0)
                let chunks = handle.readChunks().map { chunk in
                    let soFar = sent.withLock { sent in
                        sent += Int64(chunk.readableBytes)
                        return sent
                    }
                    // The last report comes with the answer.
                    if soFar < size { progress(Double(soFar) / Double(size)) }
                    return chunk
                }
                message.body = .stream(chunks, length: .known(size))
                let response = try await execute(message, timeout: Self.transferTimeout(size))
                progress(1)
                return response
            }
        } catch {
            throw TransportError(file: file, address: url, error)
        }
    }

    /// Streams an answer into a file.
    public func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        do {
            try await FileSystem.shared.withFileHandle(
                forWritingAt: FilePath(file.path),
                options: .newFile(replaceExisting: false)
            ) { handle in
                try await receive(url, progress: progress) { bytes, offset in
                    try await handle.write(
                        contentsOf: bytes.readableBytesView,
                        toAbsoluteOffset: offset
                    )
                }
            }
            progress(1)
        } catch {
            // There is no file to remove: it appears when its handle is closed without an error.
            throw TransportError(file: file, address: url, error)
        }
    }

    private func receive(
        _ url: String,
        progress: TransferProgress,
        write: (ByteBuffer, Int64) async throws -> Void
    ) async throws {
        let response = try await Self.client.execute(
            HTTPClientRequest(url: url),
            timeout: .minutes(10)
        )
        guard response.status == .ok else {
            let isGone = [.notFound, .gone].contains(response.status)
            throw TransportError(
                isGone ? .gone : .refused,
                message: "\(url) answered \(response.status.code)"
            )
        }
        let size = response.headers.first(name: "content-length").flatMap(Double.init)
        var offset: Int64 = 0
        for try await bytes in response.body {
            try await write(bytes, offset)
            offset += Int64(bytes.readableBytes)
            if let size, size > 0 { progress(min(Double(offset) / size, 1)) }
        }
        // The stream of a cancelled task may end like one that is complete.
        try Task.checkCancellation()
    }

    private func execute(
        _ message: HTTPClientRequest,
        timeout: Double,
        on client: HTTPClient = Self.client
    ) async throws -> TransportResponse {
        do {
            let response = try await client.execute(
                message,
                timeout: .milliseconds(Self.milliseconds(timeout))
            )
            let body = try await response.body.collect(upTo: Self.largestBody)
            var headers: [String: String] = [:]
            for (name, value) in response.headers { headers[name.lowercased()] = value }
            return TransportResponse(
                status: Int(response.status.code),
                headers: headers,
                body: Data(body.readableBytesView)
            )
        } catch let error as FileSystemError where !Task.isCancelled {
            throw error
        } catch {
            throw TransportError(address: message.url, error)
        }
    }

    /// Whole milliseconds, where infinity and what comes close to it are thirty years.
    private static func milliseconds(_ seconds: Double) -> Int64 {
        seconds < 1e9 ? Int64(max(seconds, 0) * 1000) : 1_000_000_000_000
    }

    /// A minute, and more for what 100 kB a second would take.
    private static func transferTimeout(_ bytes: Int64) -> Double {
        60 + Double(bytes) / 100_000
    }
}
