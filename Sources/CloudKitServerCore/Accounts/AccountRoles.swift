import CloudKitWire

/// The roles of the schema that users were granted.
struct AccountRoles: Sendable {
    let context: ServiceContext

    private static let builtInRoles: Set = ["_world", "_icloud", "_creator"]

    /// Replaces a user's roles of the schema.
    func set(
        _ roles: Set<String>,
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws {
        try await context.changeCallers { writer in
            let directory = ContainerDirectory(user.container)
            let row = try directory.environment(environment, writer)
            let known = try context.schemas.current(row, writer).roles
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
            let found = try directory.user(user.userRecordName, writer)
            try RoleDirectory(environment: row.id).setRoles(roles, of: found.id, writer)
        }
    }

    /// Returns the roles that were assigned to a user.
    func roles(
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws -> Set<String> {
        try await context.storage.read { reader in
            let directory = ContainerDirectory(user.container)
            let row = try directory.environment(environment, reader)
            let found = try directory.user(user.userRecordName, reader)
            return try RoleDirectory(environment: row.id).roles(of: found.id, reader)
        }
    }
}
