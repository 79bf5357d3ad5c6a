public import CloudKitWebClient
public import Foundation

/// A transport above another one, to which it passes everything that it does not handle.
public protocol PassingTransport: Transport {
    /// The transport below.
    var base: any Transport { get }
}

extension PassingTransport {
    /// Sends the request over the transport below.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await base.send(request)
    }

    /// Posts the file over the transport below.
    public func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await base.upload(file, to: url, progress: progress)
    }

    /// Downloads the file over the transport below.
    public func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await base.download(url, to: file, progress: progress)
    }
}
