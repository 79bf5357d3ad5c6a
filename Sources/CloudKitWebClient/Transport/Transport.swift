public import Foundation

/// Carries requests to the service and brings answers back.
///
/// The one seam of the client: `HTTPTransport` goes over the network; a test's transport may go
/// straight into a server in the same process.
public protocol Transport: Sendable {
    /// Sends a request whose body and answer fit into memory.
    ///
    /// - Throws: `TransportError` when no answer came, whatever the reason. An answer with an error
    ///   status is no such error.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Posts a file's bytes.
    ///
    /// - Throws: `TransportError` as for `send(_:)`, and when the file cannot be read.
    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse

    /// Fetches bytes into a new file, which is removed again when the transfer fails.
    ///
    /// - Throws: `TransportError` as for `send(_:)`, when the file cannot be written, and when the
    ///   answer has an error status.
    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws

    /// Posts a file's bytes; fails with `timedOut` after so many seconds without a byte.
    ///
    /// A transport that does not implement it takes its own time.
    func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse

    /// Fetches bytes into a new file; fails with `oversized` as soon as there are more than a size,
    /// and with `timedOut` after so many seconds without a byte.
    ///
    /// The size is nil where nobody has said it. A transport that does not implement this takes its
    /// own time, and all bytes that come.
    func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws
}

extension Transport {
    /// Posts a file's bytes in the transport's own time.
    public func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await upload(file, to: url, progress: progress)
    }

    /// Fetches bytes into a new file in the transport's own time.
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

/// Is told how much of a file was transferred, from 0 to 1, at least once with 1 at the end.
public typealias TransferProgress = @Sendable (Double) -> Void
