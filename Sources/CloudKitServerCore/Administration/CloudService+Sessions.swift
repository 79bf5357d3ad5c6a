import CloudKitBasics
public import CloudKitWire

/// Credentials with which an operator uses the service in the way that clients do.
public struct OperatorSession: Hashable, Sendable, Codable {
    /// The API token.
    public var apiToken: String
    /// The web auth token of the user to act as; `nil` for no user.
    public var webAuthToken: String?
    /// The expiration time of the API token, in milliseconds since 1970-01-01 UTC.
    public var expires: Int64
}

extension CloudService {
    /// The number of seconds for which a session's API token is valid.
    private static let sessionSeconds: Int64 = 24 * 3600

    /// Creates credentials for a day: an API token, and a web auth token of a user.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - environment: The environment to use.
    ///   - userRecordName: The user to act as; `nil` for no user.
    /// - Returns: The tokens; the storage keeps only hashes.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container or user, or `StorageError`.
    public func openSession(
        container: String,
        environment: ServiceEnvironment,
        userRecordName: String? = nil
    ) async throws -> OperatorSession {
        let token = Hexadecimal.text(randomness.bytes(32))
        let expires = clock.milliseconds + Self.sessionSeconds * 1000
        let user = try await storage.write { writer -> ServiceUser? in
            let row = try Self.environment(container, environment, writer)
            let user = try userRecordName.map { name in
                guard let user = try writer.user(container: container, recordName: name) else {
                    throw RequestError(
                        .notFound,
                        reason: "No user \(name) in container \(container)"
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
            session.webAuthToken = try await addWebAuthToken(
                user: user,
                apiToken: token,
                environment: environment
            )
        }
        return session
    }

    /// Returns the record types of an environment in structured form.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container, or `StorageError`.
    public func schemaOutline(
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> SchemaOutline {
        try await storage.read { reader in
            let environment = try Self.environment(container, kind, reader)
            return SchemaOutline(try Schema(reader.schema(environment.id)))
        }
    }
}
