import CloudKitWebClient
import Foundation
import Support
import Synchronization

/// A transport that treats requests as a test specifies.
final class InterruptedTransport: PassingTransport {
    enum Fault: Sendable {
        /// The request does not arrive.
        case cut
        /// The request arrives, but its response does not.
        case lost
        /// The service responds with an error for the whole request.
        case refused(status: Int, code: String)
    }

    struct Script: Sendable {
        /// The faults for the next request whose path has a suffix.
        var faults: [(path: String, fault: Fault)] = []
        /// The closures that run once, before the response to a request whose path has a suffix.
        var before: [(path: String, body: @Sendable () async throws -> Void)] = []
        /// The paths of the requests.
        var paths: [String] = []
        /// A closure that may respond in place of the service.
        var response: (@Sendable (TransportRequest) -> TransportResponse?)?
        /// A closure that changes the bodies of responses.
        var rewrite: (@Sendable (_ path: String, _ response: Data) -> Data)?
    }

    let base: any Transport
    let script: Mutex<Script>

    init(_ base: any Transport, _ script: Script = Script()) {
        self.base = base
        self.script = Mutex(script)
    }

    func fail(_ path: String, _ fault: Fault) {
        script.withLock { $0.faults.append((path, fault)) }
    }

    func before(_ path: String, _ body: @escaping @Sendable () async throws -> Void) {
        script.withLock { $0.before.append((path, body)) }
    }

    var requestCount: Int { script.withLock { $0.paths.count } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.url.split(separator: "?").first.map(String.init) ?? request.url
        let (fault, body, response, rewrite) = script.withLock { script in
            script.paths.append(path)
            let fault = script.faults.firstIndex { path.hasSuffix($0.path) }
                .map { script.faults.remove(at: $0).fault }
            let body = script.before.firstIndex { path.hasSuffix($0.path) }
                .map { script.before.remove(at: $0).body }
            return (fault, body, script.response, script.rewrite)
        }
        try await body?()
        if let response = response?(request) { return response }
        switch fault {
        case nil:
            var response = try await base.send(request)
            if let rewrite { response.body = rewrite(path, response.body) }
            return response
        case .cut: throw TransportError(.broken, message: "cut")
        case .lost:
            _ = try await base.send(request)
            throw TransportError(.broken, message: "lost")
        case .refused(let status, let code):
            let body = #"{"serverErrorCode":"\#(code)","reason":"scripted","uuid":"u"}"#
            return TransportResponse(status: status, body: Data(body.utf8))
        }
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        script.withLock { $0.paths.append(url) }
        try await base.download(url, to: file, progress: progress)
    }
}

/// The holder of the transport that a device was created with.
final class TransportHolder: Sendable {
    private let held = Mutex<InterruptedTransport?>(nil)

    func wrap(_ base: any Transport) -> any Transport {
        let transport = InterruptedTransport(base)
        held.withLock { $0 = transport }
        return transport
    }

    var transport: InterruptedTransport { held.withLock { $0! } }
}
