import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What an operator looks at in one container beside its records: devices, notifications, credentials, and
// what differs from a snapshot.
extension HTTPAdapter {
    /// Returns the response to a request for one of these routes; nil for other requests.
    func inspectionRoute(
        _ request: Request,
        _ body: Data,
        _ context: AdapterContext
    ) async throws -> AdapterResponse? {
        let path = Self.parts(of: request)
        guard path.count >= 3, path[0] == "containers" else { return nil }
        let container = path[1]
        switch (request.method.rawValue, path.count, path[2]) {
        case ("GET", 3, "devices"):
            return try json(Devices(devices: try await service.devices(container: container)))
        case ("GET", 3, "pushes"):
            return try json(Pushes(pushes: pushes(of: container)))
        case ("POST", 3, "test-pushes"):
            return try await sendTestPush(container, body, request, context)
        case ("GET", 5, "snapshots") where path[4] == "differences":
            return try json(
                try await service.differences(
                    from: path[3],
                    to: QueryParameters(request.uri.query)["to"],
                    of: container
                )
            )
        default:
            return try await account(
                container,
                request.method.rawValue,
                path,
                request.uri.query,
                body
            )
        }
    }

    /// Notifications hold users' values, as bodies do.
    private func pushes(of container: String) -> [PushEntry] {
        service.pushes(container: container).map { entry in
            var entry = entry
            if !observer.keepsBodies { entry.payload = nil }
            return entry
        }
    }

    private func sendTestPush(
        _ container: String,
        _ body: Data,
        _ request: Request,
        _ context: AdapterContext
    ) async throws -> AdapterResponse {
        let asked = try message(TestPush.self, body)
        guard policy.isLocal(request, from: peer(context)) else {
            throw RequestError(
                .accessDenied,
                reason: "Only requests of the server's own machine send a user something, and only "
                    + "where no other machine reaches the server"
            )
        }
        let devices = try await service.sendTestPush(
            asked.subscriptionID,
            database: asked.database,
            of: try await user(asked.userRecordName, of: container),
            environment: asked.environment
        )
        return try json(SentPush(devices: devices))
    }

    // MARK: Credentials and roles

    private func account(
        _ container: String,
        _ method: String,
        _ path: [String],
        _ query: String?,
        _ body: Data
    ) async throws -> AdapterResponse? {
        switch (method, path.count, path[2]) {
        case ("GET", 3, "credentials"):
            return try json(Credentials(try await service.credentials(container: container)))
        case ("DELETE", 4, "credentials"):
            let revoked = try await service.revoke([path[3]], container: container)
            guard !revoked.isEmpty else {
                throw RequestError(
                    .notFound,
                    reason: "No credential of \(container) has this identifier; GET credentials "
                        + "lists those that are"
                )
            }
            return try json(Credentials(revoked))
        case ("DELETE", 4, "users"):
            let user = try await user(path[3], of: container)
            try await service.deleteUser(user)
            return try json(DeletedUser(userRecordName: user.userRecordName))
        case ("DELETE", 5, "users") where path[4] == "sessions":
            let user = try await user(path[3], of: container)
            return try json(Credentials(try await service.endSessions(of: user)))
        case ("GET", 5, "users") where path[4] == "roles":
            let name = QueryParameters(query)["environment"]
            guard let kind = ServiceEnvironment(rawValue: name ?? "development") else {
                throw RequestError(
                    .badRequest,
                    reason: "environment is '\(name ?? "")', not development or production"
                )
            }
            let user = try await user(path[3], of: container)
            return try json(Roles(try await service.roles(of: user, environment: kind)))
        case ("PUT", 5, "users") where path[4] == "roles":
            let asked = try message(NewRoles.self, body)
            let user = try await user(path[3], of: container)
            try await service.setRoles(asked.roles, of: user, environment: asked.environment)
            return try json(Roles(asked.roles))
        case ("POST", 3, "server-keys"):
            let asked = try message(NewServerKey.self, body)
            let keyID = try await service.addServerKey(
                publicKey: asked.publicKey,
                container: container,
                environment: asked.environment
            )
            return try json(ServerKey(keyID: keyID))
        default: return nil
        }
    }

    /// Returns a user of a container.
    func user(_ recordName: String, of container: String) async throws -> ServiceUser {
        let user = try await service.users(container: container)
            .first { $0.userRecordName == recordName }
        guard let user else {
            throw RequestError(
                .notFound,
                reason: "No user \(recordName) in container \(container)"
            )
        }
        return user
    }
}

// MARK: Messages

private struct Devices: Encodable {
    var devices: [DeviceReport]
}

private struct Pushes: Encodable {
    var pushes: [PushEntry]
}

private struct TestPush: Decodable {
    var environment: ServiceEnvironment
    var userRecordName: String
    var database: DatabaseScope
    var subscriptionID: String
}

private struct SentPush: Encodable {
    var devices: Int
}

private struct NewRoles: Decodable {
    var environment: ServiceEnvironment
    var roles: Set<String>
}

private struct Roles: Encodable {
    var roles: [String]

    init(_ roles: Set<String>) {
        self.roles = roles.sorted()
    }
}

private struct NewServerKey: Decodable {
    var environment: ServiceEnvironment
    /// The public half as PEM.
    var publicKey: String
}

private struct ServerKey: Encodable {
    var keyID: String
}

private struct DeletedUser: Encodable {
    var userRecordName: String
}

private struct Credentials: Encodable {
    struct Credential: Encodable {
        var id: String
        var kind: String
        var environment: ServiceEnvironment
        var userRecordName: String?
        var expires: Int64?
    }

    var credentials: [Credential]

    init(_ credentials: [ServiceCredential]) {
        self.credentials = credentials.map {
            Credential(
                id: $0.id,
                kind: $0.kind.command,
                environment: $0.environment,
                userRecordName: $0.userRecordName,
                expires: $0.expires
            )
        }
    }
}
