public import CloudKitWire

extension CloudService {
    private static let builtInRoles: Set = ["_world", "_icloud", "_creator"]

    /// Replaces a user's roles of the schema.
    ///
    /// Roles apply in the public database, in addition to `_world`, `_icloud` and `_creator`, which
    /// need not be assigned.
    ///
    /// - Parameters:
    ///   - roles: Names of roles that the environment's schema defines; an empty set removes all roles.
    ///   - user: The user.
    ///   - environment: The environment of the schema.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user or a role that does not exist.
    public func setRoles(
        _ roles: Set<String>,
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws {
        try await storage.write { [schemas] writer in
            let row = try Self.environment(user.container, environment, writer)
            let known = try schemas.current(row, writer).roles
            if let unknown = roles.subtracting(known).min() {
                guard !Self.builtInRoles.contains(unknown) else {
                    throw RequestError(
                        .badRequest,
                        reason:
                            "'\(unknown)' is a role that everyone has as far as it applies; roles "
                            + "that the schema makes with CREATE ROLE are granted"
                    )
                }
                let others =
                    known.isEmpty
                    ? "none: declare it with CREATE ROLE in a schema, and import that"
                    : known.sorted().joined(separator: ", ")
                throw RequestError(
                    .notFound,
                    reason: "The schema of \(user.container), \(environment.rawValue) has no role "
                        + "'\(unknown)'; it has \(others)"
                )
            }
            let found = try Self.user(user, writer)
            try RoleDirectory(environment: row.id).setRoles(roles, of: found.id, writer)
        }
        callers.removeAll()
    }

    /// Returns the roles that were assigned to a user.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    public func roles(
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws -> Set<String> {
        try await storage.read { reader in
            let row = try Self.environment(user.container, environment, reader)
            let found = try Self.user(user, reader)
            return try RoleDirectory(environment: row.id).roles(of: found.id, reader)
        }
    }

    /// Returns the number of bytes that a user's records and assets take.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    public func bytesUsed(
        by user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws -> Int64 {
        try await storage.read { reader in
            let row = try Self.environment(user.container, environment, reader)
            let found = try Self.user(user, reader)
            guard let database = try reader.database(row.id, owner: found.id) else { return 0 }
            return try reader.zones(database.id).reduce(0) { $0 + $1.bytes }
        }
    }

    /// Returns the row of a user.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    static func user(
        _ user: ServiceUser,
        _ reader: any StorageReader
    ) throws -> StoredUser {
        let found = try reader.user(container: user.container, recordName: user.userRecordName)
        guard let found else {
            throw RequestError(.notFound, reason: "No user \(user.userRecordName)")
        }
        return found
    }
}
