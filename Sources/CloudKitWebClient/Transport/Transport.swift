public import Foundation

/// Sends requests to the service and returns its responses.
///
/// The one seam of the client: `HTTPTransport` goes over the network; a test's transport may lead
/// directly into a server in the same process.
public protocol Transport: Sendable {
    /// Sends a request whose body and response fit into memory.
    ///
    /// - Throws: `TransportError` when no response arrived, whatever the reason. A response with an
    ///   error status is not such an error.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Posts a file's bytes.
    ///
    /// - Throws: `TransportError` as for `send(_:)`, and when the file cannot be read.
    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse

    /// Downloads bytes into a new file, which is removed again when the transfer fails.
    ///
    /// - Throws: `TransportError` as for `send(_:)`, when the file cannot be written, and when the
    ///   response has an error status.
    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws

    /// Posts a file's bytes; fails with `timedOut` after a number of seconds without a byte.
    ///
    /// A transport that does not implement it uses its own timeout.
    func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse

    /// Downloads bytes into a new file; fails with `oversized` as soon as there are more than a size,
    /// and with `timedOut` after a number of seconds without a byte.
    ///
    /// The size is nil if it is unknown. A transport that does not implement this method uses its own
    /// timeout, and accepts all bytes.
    func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws
}

extension Transport {
    /// Posts a file's bytes with the transport's own timeout.
    public func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await upload(file, to: url, progress: progress)
    }

    /// Downloads bytes into a new file with the transport's own timeout.
    public func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws {
        try await download(url, to: file, progress: progress)
    }
}

/// A closure that receives the transferred part of a file, from 0 to 1, and at least once 1 at the
/// end.
public typealias TransferProgress = @Sendable (Double) -> Void
