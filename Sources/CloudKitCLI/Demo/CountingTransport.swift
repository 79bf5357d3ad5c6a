#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import CloudKitWebClient
import Foundation
import Synchronization

/// A transport that counts its requests.
final class CountingTransport: Transport {
    private let base: any Transport
    private let counter = Mutex(0)

    /// Creates a counter in front of a transport.
    init(_ base: any Transport) {
        self.base = base
    }

    /// The requests so far: calls, uploads and downloads.
    var requests: Int { counter.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        counter.withLock { $0 += 1 }
        return try await base.send(request)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        counter.withLock { $0 += 1 }
        return try await base.upload(file, to: url, progress: progress)
    }

    func upload(
        _ file: URL,
        to url: String,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        counter.withLock { $0 += 1 }
        return try await base.upload(file, to: url, timeout: timeout, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        counter.withLock { $0 += 1 }
        try await base.download(url, to: file, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        size: Int64?,
        timeout: Double,
        progress: @escaping TransferProgress
    ) async throws {
        counter.withLock { $0 += 1 }
        try await base.download(url, to: file, size: size, timeout: timeout, progress: progress)
    }
}
#endif
