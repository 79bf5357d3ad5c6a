import CloudKitWebClient
import Foundation
import Synchronization

/// A way into a cloud that loses, cuts and throttles what a script says.
final class FaultyTransport: Transport {
    enum Fault: Sendable {
        /// The request does not arrive.
        case cut
        /// The request arrives, its answer does not.
        case lost
        /// The service answers that it is busy.
        case throttled
        /// The service does not know the user any more.
        case unauthenticated
        /// Nothing happens to this one.
        case pass
    }

    private let base: any Transport
    /// The faults of the next requests whose path ends so.
    private let faults: Mutex<[(path: String, fault: Fault)]>

    init(_ base: any Transport, _ faults: [(path: String, fault: Fault)]) {
        self.base = base
        self.faults = Mutex(faults)
    }

    var remaining: Int { faults.withLock { $0.count } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.url.split(separator: "?").first.map(String.init) ?? request.url
        let fault = faults.withLock { faults -> Fault? in
            guard let place = faults.firstIndex(where: { path.hasSuffix($0.path) }) else {
                return nil
            }
            return faults.remove(at: place).fault
        }
        switch fault {
        case nil, .pass: return try await base.send(request)
        case .cut: throw TransportError(.broken, message: "cut")
        case .lost:
            _ = try await base.send(request)
            throw TransportError(.broken, message: "lost")
        case .throttled:
            let body = #"{"serverErrorCode":"THROTTLED","reason":"busy","retryAfter":1,"uuid":"u"}"#
            return TransportResponse(status: 429, body: Data(body.utf8))
        case .unauthenticated:
            let body =
                #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no session","uuid":"u"}"#
            return TransportResponse(status: 401, body: Data(body.utf8))
        }
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
