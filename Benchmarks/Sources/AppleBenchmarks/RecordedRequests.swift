import CloudKitWebClient
import Foundation
import Synchronization

/// Sends requests, and records each with its response.
final class RecordedRequests: Transport {
    struct Exchange: Sendable {
        var request: TransportRequest
        var response: TransportResponse
    }

    private let base = HTTPTransport()
    private let kept = Mutex<[Exchange]>([])

    var exchanges: [Exchange] { kept.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        kept.withLock { $0.append(Exchange(request: request, response: response)) }
        return response
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await base.upload(file, to: url, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await base.download(url, to: file, progress: progress)
    }
}
