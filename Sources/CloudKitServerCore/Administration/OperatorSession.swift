import CloudKitBasics
import CloudKitWire

/// Credentials with which an operator uses the service in the way that clients do.
public struct OperatorSession: Hashable, Sendable, Codable {
    /// The API token.
    public var apiToken: String
    /// The web auth token of the user to act as; `nil` for no user.
    public var webAuthToken: String?
    /// The expiration time of the API token, in milliseconds since 1970-01-01 UTC.
    public var expires: Int64
}

/// The sessions in which operators use the service in the way that clients do.
struct OperatorSessions: Sendable {
    let context: ServiceContext

    /// The number of seconds for which a session's API token is valid.
    private static let sessionSeconds: Int64 = 24 * 3600

    /// Creates credentials for a day: an API token, and a web auth token of a user.
    func open(
        in container: String,
        _ environment: ServiceEnvironment,
        userRecordName: String?
    ) async throws -> OperatorSession {
        let token = Hexadecimal.text(context.randomness.bytes(32))
        let expires = context.clock.milliseconds + Self.sessionSeconds * 1000
        let user = try await context.storage.write { writer -> ServiceUser? in
            let row = try ContainerDirectory(container).environment(environment, writer)
            let user = try userRecordName.map { name in
                guard let user = try writer.user(container: container, recordName: name) else {
                    throw RequestError(
                        .notFound,
                        reason: "No user '\(name)' in container \(container); GET users lists "
                            + "them with their userRecordName"
                    )
                }
                return ServiceUser(user)
            }
            try writer.putCredential(
                StoredCredential(
                    kind: .apiToken,
                    hash: SecretHash.of(token),
                    environment: row.id,
                    expires: expires
                )
            )
            return user
        }
        var session = OperatorSession(apiToken: token, expires: expires)
        if let user {
            session.webAuthToken = try await AccountCredentials(context: context).addWebAuthToken(
                for: user,
                apiToken: token,
                environment
            )
        }
        return session
    }
}
