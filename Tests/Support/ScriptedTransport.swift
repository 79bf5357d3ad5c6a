public import CloudKitWebClient
public import Foundation
import Synchronization

/// A transport that a test observes and that responds from a script.
///
/// Requests without a response in the script are passed to the transport below, if there is one:
///
/// ```swift
/// let script = ScriptedTransport { request, _ in request.isAbout("records/query") ? page : nil }
/// let device = try await cloud.device(of: user, transport: script.over)
/// ```
public final class ScriptedTransport: Transport {
    /// A closure that returns the response to a request, given the number of requests before it; nil
    /// lets it through.
    public typealias Script =
        @Sendable (_ request: TransportRequest, _ index: Int) async throws -> TransportResponse?

    private let script: Script
    private let received = Mutex<[TransportRequest]>([])

    /// Creates a transport; without a script it lets everything through.
    public init(_ script: @escaping Script = { _, _ in nil }) {
        self.script = script
    }

    /// The requests so far, in their order.
    public var requests: [TransportRequest] { received.withLock { $0 } }

    /// The requests of an endpoint so far, in their order.
    public func requests(about path: String) -> [TransportRequest] {
        requests.filter { $0.isAbout(path) }
    }

    /// Returns a transport that first consults the script and then the transport below.
    public func over(_ base: any Transport) -> any Transport {
        Layer(script: self, base: base)
    }

    fileprivate func response(_ request: TransportRequest) async throws -> TransportResponse? {
        let index = received.withLock { received in
            received.append(request)
            return received.count - 1
        }
        return try await script(request, index)
    }

    /// Responds from the script.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let response = try await self.response(request) else {
            throw TransportError(
                .unreachable,
                message: "The script has no response: \(request.url)"
            )
        }
        return response
    }

    /// Responds from the script, as if the file were a request's body.
    public func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await send(TransportRequest(method: "POST", url: url, body: Data(contentsOf: file)))
    }

    /// Writes a response of the script into a file.
    public func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await send(TransportRequest(method: "GET", url: url)).body.write(to: file)
    }
}

extension TransportRequest {
    /// Returns whether the request is to an endpoint, for example `records/query`.
    public func isAbout(_ path: String) -> Bool {
        url.prefix { $0 != "?" }.hasSuffix("/" + path)
    }
}

/// A script above another transport, which files pass by.
private struct Layer: PassingTransport {
    let script: ScriptedTransport
    let base: any Transport

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if let response = try await script.response(request) { return response }
        return try await base.send(request)
    }
}
