import CloudKitServerCore
import CloudKitWire
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The users of a container, their roles and sessions, and everyone's credentials.
extension HTTPAdapter {
    /// The routes of users and credentials.
    static let accountRoutes = [
        OperatorRoute("GET", "containers/{id}/users") { adapter, call in
            let users = try await adapter.service.users(container: call.container)
            return try adapter.json(Users(users: users.map { User($0) }))
        },
        OperatorRoute(
            "POST",
            "containers/{id}/users",
            reads: NewUser.self,
            parameters: ["new"]
        ) {
            try $0.json(try await $0.addUser($2, $1.container))
        },
        OperatorRoute(
            "DELETE",
            "containers/{id}/users/{recordName}",
            changesRecords: true
        ) { adapter, call in
            let user = try await adapter.user(call.parts[3], of: call.container)
            try await adapter.service.deleteUser(user)
            return try adapter.json(DeletedUser(userRecordName: user.userRecordName))
        },
        OperatorRoute("DELETE", "containers/{id}/users/{recordName}/sessions") { adapter, call in
            let user = try await adapter.user(call.parts[3], of: call.container)
            return try adapter.json(Credentials(try await adapter.service.endSessions(of: user)))
        },
        OperatorRoute(
            "GET",
            "containers/{id}/users/{recordName}/roles",
            parameters: ["environment"]
        ) {
            try await $0.roles($1)
        },
        OperatorRoute(
            "PUT",
            "containers/{id}/users/{recordName}/roles",
            reads: NewRoles.self
        ) { adapter, call, asked in
            let user = try await adapter.user(call.parts[3], of: call.container)
            try await adapter.service.setRoles(
                asked.roles,
                of: user,
                environment: asked.environment
            )
            return try adapter.json(Roles(asked.roles))
        },
        OperatorRoute("POST", "containers/{id}/sessions", reads: NewSession.self) {
            try await $0.openSession($2, $1)
        },
        OperatorRoute(
            "POST",
            "containers/{id}/api-tokens",
            reads: NewAPIToken.self,
            parameters: ["new"]
        ) { adapter, call, asked in
            let token = try await adapter.service.addAPIToken(
                container: call.container,
                environment: asked.environment
            )
            return try adapter.json(APIToken(apiToken: token))
        },
        OperatorRoute(
            "POST",
            "containers/{id}/server-keys",
            reads: NewServerKey.self,
            parameters: ["new"]
        ) { adapter, call, asked in
            let keyID = try await adapter.service.addServerKey(
                publicKey: asked.publicKey,
                container: call.container,
                environment: asked.environment
            )
            return try adapter.json(ServerKey(keyID: keyID))
        },
        OperatorRoute("GET", "containers/{id}/credentials") { adapter, call in
            try adapter.json(
                Credentials(try await adapter.service.credentials(container: call.container))
            )
        },
        OperatorRoute("DELETE", "containers/{id}/credentials/{credential}") {
            try await $0.revoke($1.parts[3], $1.container)
        },
    ]

    private func addUser(_ request: NewUser, _ container: String) async throws -> User {
        guard let apiToken = request.apiToken else {
            return User(
                try await service.addUser(
                    container: container,
                    name: request.name,
                    emailAddress: request.emailAddress
                )
            )
        }
        let (user, token) = try await service.addUser(
            container: container,
            name: request.name,
            emailAddress: request.emailAddress,
            apiToken: apiToken,
            environment: request.environment ?? .development
        )
        return User(user, webAuthToken: token)
    }

    private func roles(_ call: OperatorCall) async throws -> AdapterResponse {
        let kind =
            try call.query.value("environment", "development or production") {
                ServiceEnvironment(rawValue: $0)
            } ?? .development
        let user = try await user(call.parts[3], of: call.container)
        return try json(Roles(try await service.roles(of: user, environment: kind)))
    }

    private func revoke(_ credential: String, _ container: String) async throws -> AdapterResponse {
        let revoked = try await service.revoke([credential], container: container)
        guard !revoked.isEmpty else {
            throw RequestError(
                .notFound,
                reason: "No credential of \(container) has this identifier; GET credentials "
                    + "lists those that are"
            )
        }
        return try json(Credentials(revoked))
    }

    private func openSession(
        _ asked: NewSession,
        _ call: OperatorCall
    ) async throws -> AdapterResponse {
        // The key gives access to the server's functions; a user's own data is for this machine only.
        guard
            asked.userRecordName == nil
                || policy.isLocal(call.request, from: peer(call.context))
        else {
            throw RequestError(
                .accessDenied,
                reason: "Only requests of the server's own machine act as a user, and only where "
                    + "no other machine reaches the server"
            )
        }
        return try json(
            try await service.openSession(
                container: call.container,
                environment: asked.environment,
                userRecordName: asked.userRecordName
            )
        )
    }

    /// Returns a user of a container.
    func user(_ recordName: String, of container: String) async throws -> ServiceUser {
        let user = try await service.users(container: container)
            .first { $0.userRecordName == recordName }
        guard let user else {
            throw RequestError(
                .notFound,
                reason: "No user '\(recordName)' in container \(container); GET users lists them "
                    + "with their userRecordName"
            )
        }
        return user
    }
}

// MARK: Messages

private struct NewUser: OperatorMessage {
    var name: String
    var emailAddress: String?
    var apiToken: String?
    var environment: ServiceEnvironment?

    enum CodingKeys: CodingKey, CaseIterable { case name, emailAddress, apiToken, environment }
}

private struct NewSession: OperatorMessage {
    var environment: ServiceEnvironment
    var userRecordName: String?

    enum CodingKeys: CodingKey, CaseIterable { case environment, userRecordName }
}

private struct NewAPIToken: OperatorMessage {
    var environment: ServiceEnvironment

    enum CodingKeys: CodingKey, CaseIterable { case environment }
}

private struct APIToken: Encodable {
    var apiToken: String
}

private struct Users: Encodable {
    var users: [User]
}

private struct User: Encodable {
    var userRecordName: String
    var givenName: String?
    var familyName: String?
    var emailAddress: String?
    var webAuthToken: String?

    init(_ user: ServiceUser, webAuthToken: String? = nil) {
        userRecordName = user.userRecordName
        givenName = user.givenName
        familyName = user.familyName
        emailAddress = user.emailAddress
        self.webAuthToken = webAuthToken
    }
}

private struct NewRoles: OperatorMessage {
    var environment: ServiceEnvironment
    var roles: Set<String>

    enum CodingKeys: CodingKey, CaseIterable { case environment, roles }
}

private struct Roles: Encodable {
    var roles: [String]

    init(_ roles: Set<String>) {
        self.roles = roles.sorted()
    }
}

private struct NewServerKey: OperatorMessage {
    var environment: ServiceEnvironment
    /// The public half as PEM.
    var publicKey: String

    enum CodingKeys: CodingKey, CaseIterable { case environment, publicKey }
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
