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
}

/// Is told how much of a file was transferred, from 0 to 1, at least once with 1 at the end.
public typealias TransferProgress = @Sendable (Double) -> Void
