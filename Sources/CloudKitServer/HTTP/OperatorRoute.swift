import CloudKitServerCore
import CloudKitWire
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A route for operators: the requests that it takes, the keys that it reads of their bodies, and its
/// response.
///
/// ``all`` is the one list of them: a request that no route in it takes gets no response, and every
/// body is read strictly.
package struct OperatorRoute: Sendable {
    /// The method, such as `POST`.
    package let method: String
    /// The path below `/_ck/`; a part in braces stands for any.
    package let path: String
    /// The keys that the body may have; empty for a route that reads none.
    package let keys: [String]
    /// `true` when the body may be empty although the route reads one.
    package let isBodyOptional: Bool
    /// `true` for a route after which clients may find other records than before.
    let changesRecords: Bool
    private let respond: Handler

    private typealias Handler =
        @Sendable (OperatorRoute, HTTPAdapter, OperatorCall) async throws -> AdapterResponse

    /// Creates a route that reads no body.
    init(
        _ method: String,
        _ path: String,
        changesRecords: Bool = false,
        _ respond: @escaping @Sendable (HTTPAdapter, OperatorCall) async throws -> AdapterResponse
    ) {
        self.init(
            method,
            path,
            reads: NoMessage.self,
            orElse: NoMessage(),
            changesRecords: changesRecords
        ) { adapter, call, _ in
            try await respond(adapter, call)
        }
    }

    /// Creates a route that reads a message.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below `/_ck/`.
    ///   - message: The type of the message.
    ///   - absent: The message of an empty body, or `nil` if there must be one.
    ///   - changesRecords: Whether clients may find other records after it.
    ///   - respond: Responds to a request.
    init<Message: OperatorMessage>(
        _ method: String,
        _ path: String,
        reads message: Message.Type,
        orElse absent: Message? = nil,
        changesRecords: Bool = false,
        _ respond:
            @escaping @Sendable (HTTPAdapter, OperatorCall, Message) async throws ->
            AdapterResponse
    ) {
        self.method = method
        self.path = path
        keys = Message.keys
        isBodyOptional = absent != nil
        self.changesRecords = changesRecords
        self.respond = { route, adapter, call in
            guard call.body.isEmpty else {
                let message = try OperatorBody<Message>(route: route, body: call.body).message()
                return try await respond(adapter, call, message)
            }
            guard let absent else {
                throw RequestError(
                    .badRequest,
                    reason: "The body is empty. \(route.reading)"
                )
            }
            return try await respond(adapter, call, absent)
        }
    }

    /// All routes.
    package static let all =
        HTTPAdapter.serverRoutes + HTTPAdapter.overviewRoutes + HTTPAdapter.containerRoutes
        + HTTPAdapter.inspectionRoutes + HTTPAdapter.accountRoutes

    /// The keys that the route reads, as a sentence.
    var reading: String {
        let list = keys.dropLast().joined(separator: ", ")
        let names = keys.count > 1 ? "\(list) and \(keys[keys.count - 1])" : keys.first
        return "\(method) \(Administration.prefix)\(path) reads \(names ?? "no body")"
    }

    /// Returns whether the route takes the requests with a method and a path.
    func takes(_ method: String, _ parts: [String]) -> Bool {
        let own = path.split(separator: "/")
        return method == self.method && parts.count == own.count
            && zip(own, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }

    /// Reads the body of a request, and responds to the request.
    ///
    /// - Throws: `RequestError` for a body that the route does not read; nothing has happened then.
    func response(_ adapter: HTTPAdapter, _ call: OperatorCall) async throws -> AdapterResponse {
        try await respond(self, adapter, call)
    }
}

/// A request to a route for operators.
struct OperatorCall: Sendable {
    let request: Request
    let context: AdapterContext
    /// The parts of the path below `/_ck/`, as many as the route's path has.
    let parts: [String]
    fileprivate let body: Data

    init(request: Request, context: AdapterContext, parts: [String], body: Data) {
        self.request = request
        self.context = context
        self.parts = parts
        self.body = body
    }

    /// The container that the path names; only for routes below `containers/{id}`.
    var container: String { parts[1] }

    /// The parameters of the query.
    var parameters: QueryParameters { QueryParameters(request.uri.query) }
}
