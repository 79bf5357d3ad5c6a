import CloudKitServerCore
public import CloudKitWire
import Foundation

extension FixtureCloud {
    /// A token for notifications.
    public struct Listener: Sendable {
        let cloud: FixtureCloud
        public let token: String
        public let url: String

        /// Returns the waiting notifications, oldest first.
        public func waiting() async throws -> [JSON] {
            try await cloud.service.notifications(waitingFor: token).map { try JSON($0) }
        }

        /// Waits for the next notification; null for an empty response.
        public func next() async throws -> Response {
            let parts = url.split(separator: "?", maxSplits: 1)
            return try await cloud.door.send(
                ConformanceRequest(
                    method: "GET",
                    path: "/aps",
                    query: String(parts[1])
                )
            )
        }
    }

    /// Requests a token for notifications; a client that passes its name receives the same one again.
    public func listen(as user: User?, client: String? = nil) async throws -> Listener {
        let response = try await tokens("create", as: user, client: client)
        return Listener(
            cloud: self,
            token: response.body.apnsToken.text ?? "",
            url: response.body.webcourierURL.text ?? ""
        )
    }

    /// Calls an endpoint for tokens.
    public func tokens(
        _ action: String,
        as user: User?,
        token: String? = nil,
        client: String? = nil,
        module: String = "device"
    ) async throws -> Response {
        var parameters = "ckAPIToken=\(apiToken)"
        if let user { parameters += "&ckWebAuthToken=\(Self.escape(user.token))" }
        var body: [String: JSON] = ["apnsEnvironment": "development"]
        if let token { body["apnsToken"] = .string(token) }
        if let client { body["clientId"] = .string(client) }
        let database = module == "database" ? "/private" : ""
        return try await door.send(
            ConformanceRequest(
                method: "POST",
                path: "/\(module)/1/\(Self.container)/\(environment.rawValue)\(database)"
                    + "/tokens/\(action)",
                query: parameters,
                body: try JSONEncoder().encode(body)
            )
        )
    }

    /// Creates a subscription; returns the service's response.
    @discardableResult
    public func subscribe(
        _ id: String,
        _ type: String = "database",
        _ database: DatabaseScope = .private,
        as user: User,
        _ more: [String: JSON] = [:]
    ) async throws -> JSON {
        var subscription = more
        subscription["subscriptionID"] = .string(id)
        subscription["subscriptionType"] = .string(type)
        let response = try await call(
            "subscriptions/modify",
            database,
            as: user,
            ["operations": [["operationType": "create", "subscription": .object(subscription)]]]
        )
        return response.body.subscriptions[0]
    }
}
