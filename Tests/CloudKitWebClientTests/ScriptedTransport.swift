import CloudKitWebClient
import Foundation
import Synchronization

/// Answers requests by a closure and keeps them.
final class ScriptedTransport: Transport {
    private let answer: @Sendable (TransportRequest, Int) throws -> TransportResponse
    private let received = Mutex<[TransportRequest]>([])

    /// Makes a transport; the closure is given the request and how many came before it.
    init(_ answer: @escaping @Sendable (TransportRequest, Int) throws -> TransportResponse) {
        self.answer = answer
    }

    var requests: [TransportRequest] { received.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let index = received.withLock { received in
            received.append(request)
            return received.count - 1
        }
        return try answer(request, index)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await send(TransportRequest(method: "POST", url: url, body: Data(contentsOf: file)))
    }

    func download(_ url: String, to file: URL, progress: @escaping TransferProgress) async throws {
        try await send(TransportRequest(method: "GET", url: url)).body.write(to: file)
    }
}
