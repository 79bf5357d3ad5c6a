import CloudKitWebClient
import Foundation
import Synchronization

/// A way into a cloud that can be cut for good, as the end of a process cuts it.
final class CutTransport: Transport {
    private let base: any Transport
    private let isCut = Mutex(false)

    init(_ base: any Transport) {
        self.base = base
    }

    func cut() { isCut.withLock { $0 = true } }

    private func check() throws {
        guard isCut.withLock({ $0 }) else { return }
        throw TransportError(.unreachable, message: "The process has ended")
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try check()
        return try await base.send(request)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try check()
        return try await base.upload(file, to: url, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try check()
        try await base.download(url, to: file, progress: progress)
    }
}
