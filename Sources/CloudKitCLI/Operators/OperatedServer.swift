import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import CloudKitWire
import Foundation

/// A running server, as its routes for operators show and change it.
struct OperatedServer {
    let url: String
    let key: String

    /// Seconds without a byte, because a restored snapshot may take long.
    private static let timeout = 600.0

    /// Calls a route.
    ///
    /// - Returns: The body of the response.
    /// - Throws: `RequestError` when the server refuses the request, or `WebClientError`.
    @discardableResult
    func data(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        try await Self.send(
            TransportRequest(
                method: method,
                url: "\(url)/_ck/\(path)",
                headers: ["Authorization": "Bearer \(key)"],
                body: body,
                timeout: Self.timeout
            )
        )
    }

    /// Calls a route, and reads the response.
    func call<Response: Decodable>(
        _ method: String,
        _ path: String,
        _ body: (any Encodable)? = nil
    ) async throws -> Response {
        let data = try await data(method, path, body.map { try WireJSON.encode($0) })
        do {
            return try WireJSON.decode(Response.self, from: data)
        } catch let error as DecodingError {
            throw WebClientError.unexpectedResponse(
                status: 200,
                message: "\(WireJSON.place(of: error)); is the server of another version?"
            )
        }
    }

    /// Sends a request, and returns the body of the response.
    static func send(_ request: TransportRequest) async throws -> Data {
        let response: TransportResponse
        do {
            response = try await HTTPTransport().send(request)
        } catch let error as TransportError {
            throw WebClientError.transport(error)
        }
        guard (200..<300).contains(response.status) else {
            // A response that is no such error is reported by its status.
            if let error = try? WireJSON.decode(RequestError.self, from: response.body) {
                throw error
            }
            throw WebClientError.unexpectedResponse(
                status: response.status,
                message: "is this the address of cloudkit serve?"
            )
        }
        return response.body
    }

    /// The state of the server and of its containers.
    struct Overview: Codable {
        var version: String?
        var milliseconds: Int64
        var clockCanBeMoved: Bool
        var actsAsUsers: Bool
        var connections: Int
        var waitingRequests: Int
        var faultRules: Int
        var containers: [ContainerOverview]
    }

    /// Returns the state of the server and of its containers.
    func overview() async throws -> Overview { try await call("GET", "overview") }
}
