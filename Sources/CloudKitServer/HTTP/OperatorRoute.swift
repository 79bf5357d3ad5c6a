import CloudKitServerCore
import CloudKitWire
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A route for operators: the requests that it takes, the keys that it reads of their bodies, the
/// parameters that it reads of their queries, and its response.
///
/// ``all`` is the one list of them: a request that no route in it takes gets no response, and every
/// body and query is read strictly.
package struct OperatorRoute: Sendable {
    /// The method, such as `POST`.
    package let method: String
    /// The path below `/_ck/`; a part in braces stands for any.
    package let path: String
    /// The keys that the body may have; empty for a route that reads none.
    package let keys: [String]
    /// The parameters that the query may have.
    package let parameters: [String]
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
        parameters: [String] = [],
        changesRecords: Bool = false,
        _ respond: @escaping @Sendable (HTTPAdapter, OperatorCall) async throws -> AdapterResponse
    ) {
        self.init(
            method,
            path,
            reads: NoMessage.self,
            orElse: NoMessage(),
            parameters: parameters,
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
    ///   - parameters: The parameters that the query may have.
    ///   - changesRecords: Whether clients may find other records after it.
    ///   - respond: Responds to a request.
    init<Message: OperatorMessage>(
        _ method: String,
        _ path: String,
        reads message: Message.Type,
        orElse absent: Message? = nil,
        parameters: [String] = [],
        changesRecords: Bool = false,
        _ respond:
            @escaping @Sendable (HTTPAdapter, OperatorCall, Message) async throws ->
            AdapterResponse
    ) {
        self.method = method
        self.path = path
        keys = Message.keys
        self.parameters = parameters
        isBodyOptional = absent != nil
        self.changesRecords = changesRecords
        self.respond = { route, adapter, call in
            guard call.body.isEmpty else {
                let message = try OperatorBody<Message>(route: route, body: call.body).message()
                return try await respond(adapter, call, message)
            }
            guard let absent else {
                throw route.mistake("The body is empty")
            }
            return try await respond(adapter, call, absent)
        }
    }

    /// All routes.
    package static let all =
        HTTPAdapter.serverRoutes + HTTPAdapter.overviewRoutes + HTTPAdapter.containerRoutes
        + HTTPAdapter.inspectionRoutes + HTTPAdapter.accountRoutes

    /// Returns the error for a request that the route does not read.
    func mistake(_ words: String) -> RequestError {
        let end = words.hasSuffix("?") ? "" : "."
        let query = parameters.isEmpty ? "" : ", and of the query \(Self.list(parameters))"
        return RequestError(
            .badRequest,
            reason: "\(words)\(end) \(method) \(Administration.prefix)\(path) reads "
                + (keys.isEmpty ? "no body" : Self.list(keys)) + query
        )
    }

    private static func list(_ names: [String]) -> String {
        guard names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1])"
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
    /// The parameters of the query.
    let query: OperatorQuery
    fileprivate let body: Data

    init(
        request: Request,
        context: AdapterContext,
        parts: [String],
        query: OperatorQuery,
        body: Data
    ) {
        self.request = request
        self.context = context
        self.parts = parts
        self.query = query
        self.body = body
    }

    /// The container that the path names; only for routes below `containers/{id}`.
    var container: String { parts[1] }
}

/// The query of a request to a route for operators.
///
/// A parameter that the route does not read is refused, for the same reason as a key of the body.
struct OperatorQuery: Sendable {
    let route: OperatorRoute
    private var values: [String: String] = [:]

    /// Reads a query.
    ///
    /// - Throws: `RequestError` that names the parameter, and those that the route reads.
    init(_ query: String?, of route: OperatorRoute) throws(RequestError) {
        self.route = route
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0]),
                let value = PercentEncoding.decode(parts.count > 1 ? parts[1] : "")
            else { throw route.mistake("'\(pair)' in the query is not percent-encoded UTF-8") }
            guard route.parameters.contains(name) else {
                throw route.mistake(
                    "'\(name)' in the query means nothing to it"
                        + NearestName.advice(for: name, in: route.parameters)
                )
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw route.mistake("The query has '\(name)' twice")
            }
        }
    }

    subscript(_ name: String) -> String? { values[name] }

    /// Returns a value that is read from its text.
    ///
    /// - Throws: `RequestError` for a text that is none.
    func value<Value>(
        _ name: String,
        _ kind: String,
        _ read: (String) -> Value?
    ) throws(RequestError) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else {
            throw route.mistake("\(name) in the query is '\(text)', not \(kind)")
        }
        return value
    }
}
