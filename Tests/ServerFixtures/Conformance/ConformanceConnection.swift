public import CloudKitServerCore
import CloudKitWire
public import Foundation

/// One request as it reaches a service, over any connection.
public struct ConformanceRequest: Sendable {
    public var method: String
    public var path: String
    public var query: String
    public var headers: [(name: String, value: String)]
    public var body: Data

    /// Creates a request.
    public init(
        method: String,
        path: String,
        query: String,
        headers: [(name: String, value: String)] = [],
        body: Data = Data()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The path and the query.
    public var target: String { query.isEmpty ? path : path + "?" + query }
}

/// A connection to a service: in the process or over HTTP.
public protocol ConformanceConnection: Sendable {
    func send(_ request: ConformanceRequest) async throws -> FixtureCloud.Response
}

/// A direct connection to the service, including the bytes of assets.
public struct ServiceConnection: ConformanceConnection {
    private let service: CloudService

    public init(_ service: CloudService) {
        self.service = service
    }

    public func send(_ request: ConformanceRequest) async throws -> FixtureCloud.Response {
        switch AssetRoute(path: request.path) {
        case .upload(let token):
            let body = AsyncStream { stream in
                stream.yield(request.body)
                stream.finish()
            }
            return try FixtureCloud.Response(await service.receiveAsset(token: token, body: body))
        case .download(let token): return try await download(token)
        case nil:
            return try FixtureCloud.Response(
                await service.respond(
                    to: ServiceRequest(
                        method: request.method,
                        path: request.path,
                        query: request.query.isEmpty ? nil : request.query,
                        headers: request.headers.map { ($0.name, $0.value) },
                        body: request.body,
                        baseURL: "http://cloud.test"
                    )
                )
            )
        }
    }

    private func download(_ token: String) async throws -> FixtureCloud.Response {
        do {
            var bytes = Data()
            for try await chunk in try await service.openAsset(token: token).chunks {
                bytes += chunk
            }
            return FixtureCloud.Response(status: 200, bytes: bytes)
        } catch let error as RequestError {
            return try FixtureCloud.Response(service.refusal(error))
        }
    }
}

extension FixtureCloud.Response {
    /// Creates the response to a download.
    public init(status: Int, bytes: Data) {
        self.status = status
        body = ["bytes": .int(Int64(bytes.count))]
    }
}
