public import AsyncHTTPClient
public import Foundation
public import Logging
import NIOCore
import NIOFileSystem
import NIOHTTP1
import Synchronization

/// A transport that sends requests over HTTP.
///
/// `HTTPTransport()` needs no arguments: all of a process's transports of this kind share one pool of
/// connections, on NIO's event loops for the process, and respect `SSL_CERT_FILE`, `HTTPS_PROXY` and
/// `NO_PROXY`. A program with its own HTTP client, with its trust roots, client certificate, proxy
/// and event loops, passes it:
///
/// ```swift
/// var tls = TLSConfiguration.makeClientConfiguration()
/// tls.trustRoots = .file("/etc/ssl/company.pem")
/// let http = HTTPClient(configuration: HTTPClient.Configuration(tlsConfiguration: tls))
/// let transport = HTTPTransport(client: http, logger: logger)
/// ```
public struct HTTPTransport: Transport {
    /// The name and version of this package, as servers see them.
    public static let userAgent = "swift-cloudkit/\(PackageVersion.current)"

    /// Seconds that a request waits for a free connection, before its own time begins.
    public var connectionTimeout: Double = 300

    /// The user agent that is sent to servers.
    public var userAgent = HTTPTransport.userAgent

    /// The logger of one `debug` line for each request, and of the HTTP client's steps; it never
    /// receives a token, a link or a body.
    public var logger: Logger?

    /// The app's client; nil for the process's.
    private let own: (client: HTTPClient, gate: ConnectionGate)?

    /// Creates a transport over the connections that the process shares.
    public init(logger: Logger? = nil) {
        self.logger = logger
        own = nil
    }

    /// Creates a transport over a client of the app, which also shuts it down.
    ///
    /// - Parameters:
    ///   - client: The HTTP client. Its timeouts apply in addition to those of requests; set no `read`
    ///     timeout, and `retryConnectionEstablishment = false`, to have only this package's. Disable
    ///     redirects with `redirectConfiguration = .disallow`: a request that was redirected to another
    ///     server is an error, but its body has already been sent there.
    ///   - connectionsPerHost: The number of connections that the client's pool keeps to one host:
    ///     further requests wait in the transport. Each listener for notifications takes an additional
    ///     one.
    ///   - logger: The logger.
    public init(client: HTTPClient, connectionsPerHost: Int = 8, logger: Logger? = nil) {
        own = (client, ConnectionGate(width: connectionsPerHost))
        self.logger = logger
    }

    /// Sends a request and reads the whole response.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        let watch = IdleWatch(request.timeout)
        message.body = request.body.map { body($0, watch) }
        return try await exchange(message, watch, waits: request.waits) { response in
            try await Self.read(response, watch)
        }
    }

    /// Streams a file into a POST request.
    public func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        do {
            return try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file.path)) {
                handle in
                let size = try await handle.info().size
                let watch = IdleWatch(timeout)
                var message = HTTPClientRequest(url: url)
                message.method = .POST
                message.headers.add(name: "Content-Type", value: "application/octet-stream")
                let sent = Mutex<Int64>(0)
                let chunks = handle.readChunks().map { [pace] chunk in
                    await pace.next()
                    watch.touch()
                    let soFar = sent.withLock { sent in
                        sent += Int64(chunk.readableBytes)
                        return sent
                    }
                    // The last report comes with the response.
                    if soFar < size { progress(Double(soFar) / Double(size)) }
                    return chunk
                }
                message.body = .stream(chunks, length: .known(size))
                let response = try await exchange(message, watch) { response in
                    try await Self.read(response, watch)
                }
                progress(1)
                return response
            }
        } catch {
            throw TransportError(file: file, error)
        }
    }

    /// Streams a file into a POST request, which may be silent for a minute.
    public func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await upload(file, to: url, timeout: 60, progress: progress)
    }

    /// Streams a response into a file; without a size, the response must contain its length.
    public func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws {
        do {
            try await FileSystem.shared.withFileHandle(
                forWritingAt: FilePath(file.path),
                options: .newFile(replaceExisting: false, permissions: .ownerReadWrite)
            ) { handle in
                let watch = IdleWatch(timeout)
                try await exchange(HTTPClientRequest(url: url), watch) { response in
                    let length = try Self.length(of: response, expected: size)
                    try await Self.receive(response, watch, length, progress) { bytes, offset in
                        try await handle.write(
                            contentsOf: bytes.readableBytesView,
                            toAbsoluteOffset: offset
                        )
                    }
                }
            }
            progress(1)
        } catch {
            // There is no file to remove: it appears when its handle is closed without an error.
            throw TransportError(file: file, error)
        }
    }

    /// Streams a response into a file; the server may be silent for a minute.
    public func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await download(url, to: file, size: nil, timeout: 60, progress: progress)
    }

    // MARK: One exchange

    /// The size of a body's large pieces; while pieces are sent, a request is not silent.
    private static let pieceLength = 1 << 16

    private var pace: BodyPace {
        BodyPace(own?.client.eventLoopGroup ?? HTTPClient.defaultEventLoopGroup)
    }

    private func body(_ bytes: Data, _ watch: IdleWatch) -> HTTPClientRequest.Body {
        guard bytes.count > Self.pieceLength else { return .bytes(ByteBuffer(bytes: bytes)) }
        let pace = pace
        let rest = Mutex(ByteBuffer(bytes: bytes))
        let pieces = AsyncStream<ByteBuffer>(unfolding: {
            await pace.next()
            watch.touch()
            return rest.withLock { rest in
                let length = min(rest.readableBytes, Self.pieceLength)
                return length == 0 ? nil : rest.readSlice(length: length)
            }
        })
        return .stream(pieces, length: .known(Int64(bytes.count)))
    }

    /// Sends a request when a connection is free, and processes the response.
    private func exchange<Success: Sendable>(
        _ request: HTTPClientRequest,
        _ watch: IdleWatch,
        waits: Bool = false,
        _ body: @escaping @Sendable (HTTPClientResponse) async throws -> Success
    ) async throws -> Success {
        let address: ServerAddress
        do {
            address = try ServerAddress(request.url)
        } catch {
            throw TransportError.badAddress(error.reason)
        }
        let (client, gate) = try route(to: address, waits: waits)
        var message = request
        if message.headers["User-Agent"].isEmpty {
            message.headers.add(name: "User-Agent", value: userAgent)
        }
        let log = RequestLog(logger, request.url)
        do {
            return try await gate.pass(to: address.origin, waiting: connectionTimeout) {
                try await watch.hold { [message] in
                    let response = try await client.execute(
                        message,
                        // The transport watches for silence; this is only the client's own limit.
                        timeout: .hours(24 * 365),
                        logger: logger
                    )
                    watch.touch()
                    // Credentials and responses are between this program and the server that it
                    // named.
                    guard response.history.count < 2 else { throw TransportError.sentOn }
                    log.finished(Int(response.status.code))
                    return try await body(response)
                }
            }
        } catch let error as FileSystemError where !Task.isCancelled {
            throw error
        } catch {
            let failure = TransportError(address: address.origin, error)
            log.failed(failure)
            throw failure
        }
    }

    /// Returns the client for a server, and the gate at which requests wait for it.
    private func route(
        to address: ServerAddress,
        waits: Bool
    ) throws(TransportError) -> (HTTPClient, ConnectionGate) {
        if let own { return (own.client, waits ? Self.open : own.gate) }
        let clients = try HTTPClients.shared.get()
        return (clients.client(for: address, waits: waits), waits ? Self.open : clients.gate)
    }

    /// Requests that wait for something to happen do not hold up others in the line.
    private static let open = ConnectionGate(width: .max)

    private static func read(
        _ response: HTTPClientResponse,
        _ watch: IdleWatch
    ) async throws -> TransportResponse {
        var body = ByteBuffer()
        for try await bytes in response.body {
            watch.touch()
            guard body.readableBytes + bytes.readableBytes <= HTTPClients.largestBody else {
                throw NIOTooManyBytesError(maxBytes: HTTPClients.largestBody)
            }
            body.writeImmutableBuffer(bytes)
        }
        // The stream of a cancelled task may end like a complete one.
        try Task.checkCancellation()
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        return TransportResponse(
            status: Int(response.status.code),
            headers: headers,
            body: Data(body.readableBytesView)
        )
    }

    /// Returns the maximum number of bytes that a file's server may send.
    private static func length(
        of response: HTTPClientResponse,
        expected size: Int64?
    ) throws(TransportError) -> Int64 {
        guard response.status == .ok else {
            let isGone = [.notFound, .gone].contains(response.status)
            // Without the link, which suffices to read the file.
            throw TransportError(
                isGone ? .notFound : .refused,
                message: "The file's server responded with status \(response.status.code)"
            )
        }
        let announced = response.headers.first(name: "content-length").flatMap { Int64($0) }
        guard let length = size ?? announced else {
            throw TransportError(
                .oversized,
                message: "Neither the record nor the file's server says how long the file is"
            )
        }
        if let announced, announced > length { throw .oversized(length) }
        return length
    }

    private static func receive(
        _ response: HTTPClientResponse,
        _ watch: IdleWatch,
        _ length: Int64,
        _ progress: TransferProgress,
        write: (ByteBuffer, Int64) async throws -> Void
    ) async throws {
        var offset: Int64 = 0
        for try await bytes in response.body {
            watch.touch()
            guard Int64(bytes.readableBytes) <= length - offset else {
                throw TransportError.oversized(length)
            }
            try await write(bytes, offset)
            watch.touch()
            offset += Int64(bytes.readableBytes)
            progress(min(Double(offset) / Double(max(length, 1)), 1))
        }
        // The stream of a cancelled task may end like a complete one.
        try Task.checkCancellation()
    }
}
