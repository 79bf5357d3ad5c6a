public import CloudKitServerCore
public import CloudKitWebClient
public import Foundation

/// A transport that passes a client's requests directly to a service in the same process.
///
/// Messages and rules are the same as over HTTP; only the sockets are missing.
///
/// ```swift
/// let client = WebClient(
///     url: InProcessTransport.url,
///     container: "iCloud.org.example.notes",
///     environment: .development,
///     credentials: credentials,
///     transport: InProcessTransport(service: service)
/// )
/// ```
public struct InProcessTransport: Transport {
    /// The address at which the service appears to be; no request leaves the process.
    public static let url = "http://cloud.invalid"

    private let service: CloudService

    /// Creates a transport that sends requests to a service.
    public init(service: CloudService) {
        self.service = service
    }

    /// Sends a request to the service.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Self.checkCancellation()
        let (path, query) = Self.target(of: request.url)
        let response = await service.respond(
            to: ServiceRequest(
                method: request.method,
                path: path,
                query: query,
                headers: request.headers.map { ($0.key, $0.value) },
                body: request.body ?? Data(),
                baseURL: Self.url
            )
        )
        try await Self.wait(response.delivery, bytes: response.body.count, request.timeout)
        // In a cancelled task, a failure is the effect of the cancellation on the service's own
        // work.
        if response.status >= 500 { try Self.checkCancellation() }
        return Self.response(response)
    }

    /// Sends a file's bytes to the service.
    public func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try Self.checkCancellation()
        guard case .upload(let token) = AssetRoute(path: Self.target(of: url).path) else {
            throw Self.foreign(url)
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: file, options: .mappedIfSafe)
        } catch {
            throw TransportError(
                FileManager.default.fileExists(atPath: file.path) ? .fileUnusable : .fileNotFound,
                message: "The file \(file.path) cannot be read",
                cause: error
            )
        }
        let body = AsyncStream<Data> { stream in
            stream.yield(bytes)
            stream.finish()
        }
        let response = await service.receiveAsset(token: token, body: body)
        // A stream ends early when its reader is cancelled, and the bytes that arrived look
        // complete.
        try Self.checkCancellation()
        try await Self.wait(response.delivery, bytes: response.body.count, Self.transferTimeout)
        progress(1)
        return Self.response(response)
    }

    /// Writes an asset's bytes into a new file.
    public func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try Self.checkCancellation()
        guard case .download(let token) = AssetRoute(path: Self.target(of: url).path) else {
            throw Self.foreign(url)
        }
        do {
            var bytes = Data()
            let contents = try await service.openAsset(token: token)
            let size = Int(contents.size)
            try await Self.wait(contents.delivery, bytes: size, Self.transferTimeout)
            for try await chunk in contents.chunks { bytes += chunk }
            try Self.checkCancellation()
            try bytes.write(to: file, options: .withoutOverwriting)
        } catch let error as TransportError {
            throw error
        } catch {
            try Self.checkCancellation()
            let isGone = (error as? RequestError)?.serverErrorCode == .notFound
            throw TransportError(
                isGone ? .notFound : .refused,
                message: "\(url): \(error)",
                cause: error
            )
        }
        progress(1)
    }

    /// The number of seconds within which an asset must be transferred.
    private static let transferTimeout = 60.0

    /// Delays a response as its delivery requires.
    ///
    /// - Throws: `TransportError` when the response does not arrive, as over a network.
    private static func wait(
        _ delivery: ServiceResponse.Delivery,
        bytes: Int,
        _ timeout: Double
    ) async throws {
        guard delivery != ServiceResponse.Delivery() else { return }
        let travel = delivery.bytesPerSecond.map { Double(bytes) / Double($0) } ?? 0
        let seconds = Double(delivery.delayMilliseconds) / 1000 + travel
        do {
            try await Task.sleep(for: .seconds(min(seconds, timeout)))
        } catch {
            try checkCancellation()
        }
        if seconds > timeout {
            throw TransportError(.timedOut, message: "The cloud did not respond in time")
        }
        switch delivery.end {
        case .whole: return
        case .cut(let count) where count >= bytes: return
        case .cut, .lost:
            throw TransportError(.broken, message: "The connection to the cloud broke")
        }
    }

    private static func checkCancellation() throws {
        guard Task.isCancelled else { return }
        throw TransportError(.cancelled, message: "The request was cancelled")
    }

    private static func foreign(_ url: String) -> TransportError {
        TransportError(.unreachable, message: "\(url) is not an asset URL of this cloud")
    }

    /// Returns the path and the query of a URL, unchanged.
    private static func target(of url: String) -> (path: String, query: String?) {
        let target = url.hasPrefix(Self.url) ? url.dropFirst(Self.url.count) : url[...]
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    }

    private static func response(_ response: ServiceResponse) -> TransportResponse {
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        return TransportResponse(status: response.status, headers: headers, body: response.body)
    }
}
