import CloudKitServerCore
import CloudKitWire

/// A container of a running server, as the routes for operators show and change it.
struct OperatedContainer {
    let server: OperatedServer
    let name: String

    private struct Users: Decodable {
        var users: [UserEntry]
    }

    /// Calls a route of the container, and ignores the response.
    func send(_ method: String, _ path: String, _ body: (any Encodable)? = nil) async throws {
        try await server.data(method, route(path), body.map { try WireJSON.encode($0) })
    }

    /// Calls a route of the container, and reads the response.
    func call<Response: Decodable>(
        _ method: String,
        _ path: String,
        _ body: (any Encodable)? = nil
    ) async throws -> Response {
        try await server.call(method, route(path), body)
    }

    /// Returns the record name of the user with a record name, an e-mail address or a full name.
    ///
    /// - Throws: `CommandFailure` when there is none, or more than one.
    func user(_ text: String) async throws -> String {
        let response: Users = try await call("GET", "users")
        let index = try UserEntry.index(of: text, in: response.users, name)
        return response.users[index].userRecordName
    }

    private func route(_ path: String) -> String {
        "containers/\(PercentEncoding.encode(name))/\(path)"
    }
}
