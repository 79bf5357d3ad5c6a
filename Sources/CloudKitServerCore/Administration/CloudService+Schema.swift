public import CloudKitWire

// Schemas as text, for the command line and for tests.
extension CloudService {
    /// Returns the schema of an environment in the schema language.
    public func exportSchema(
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> String {
        try await storage.read { reader in
            let environment = try Self.environment(container, kind, reader)
            return SchemaDefinition(try Schema(reader.schema(environment.id))).text
        }
    }

    /// Checks that a text is a schema.
    ///
    /// - Throws: `SchemaSyntaxError` with the position of the first mistake.
    public static func validateSchema(_ text: String) throws(SchemaSyntaxError) {
        _ = try SchemaDefinition.parse(text)
    }

    /// Returns the changes that turn one schema text into another.
    ///
    /// - Throws: `SchemaSyntaxError`.
    public static func schemaChanges(
        from old: String,
        to new: String
    ) throws(SchemaSyntaxError) -> [SchemaChange] {
        try SchemaDefinition.parse(old).changes(to: SchemaDefinition.parse(new))
    }

    /// Replaces the schema of an environment: removes everything that the text does not name, and
    /// updates indexes.
    ///
    /// Users lose the roles that the text does not name.
    ///
    /// - Parameters:
    ///   - text: The schema.
    ///   - container: The container's identifier; a new container is created.
    ///   - kind: The environment.
    ///   - isDryRun: A Boolean value that indicates whether to return the changes without applying them.
    /// - Returns: The changes.
    /// - Throws: `SchemaSyntaxError`, or `RequestError` with `BAD_REQUEST` for a change that would
    ///   lose data; nothing changes then.
    public func importSchema(
        _ text: String,
        container: String,
        environment kind: ServiceEnvironment,
        isDryRun: Bool = false
    ) async throws -> [SchemaChange] {
        let definition = try SchemaDefinition.parse(text)
        if isDryRun {
            let isNew = try await storage.read { reader in
                try reader.environment(container: container, kind) == nil
            }
            if isNew { return SchemaDefinition().changes(to: definition) }
        } else {
            try await addContainer(container)
        }
        return try await apply(definition, container, kind, isDryRun: isDryRun)
    }

    /// Copies types, fields, indexes and roles from development to production, never data.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - isDryRun: A Boolean value that indicates whether to return the changes without applying them.
    /// - Returns: The changes.
    /// - Throws: `RequestError` with `BAD_REQUEST` when production would lose something.
    public func deploySchema(
        container: String,
        isDryRun: Bool = false
    ) async throws -> [SchemaChange] {
        let definition = try await storage.read { reader in
            let development = try Self.environment(container, .development, reader)
            return SchemaDefinition(try Schema(reader.schema(development.id)))
        }
        return try await apply(definition, container, .production, isDryRun: isDryRun)
    }

    private func apply(
        _ definition: SchemaDefinition,
        _ container: String,
        _ kind: ServiceEnvironment,
        isDryRun: Bool
    ) async throws -> [SchemaChange] {
        let version = randomness.identifier()
        do {
            let changes = try await storage.write { writer in
                let environment = try Self.environment(container, kind, writer)
                var migration = try SchemaMigration(environment, writer)
                let changes = try migration.apply(definition, version: version)
                if isDryRun { throw DryRun(changes: changes) }
                try RoleDirectory(environment: environment.id).keep(definition.roles, writer)
                return changes
            }
            callers.removeAll()
            return changes
        } catch let dryRun as DryRun {
            return dryRun.changes
        }
    }
}

/// An error that is thrown from a write to undo it.
private struct DryRun: Error {
    let changes: [SchemaChange]
}
