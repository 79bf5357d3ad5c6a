import CloudKitWire

/// The schemas of containers, as text in the schema language and in structured form.
struct ContainerSchemas: Sendable {
    let context: ServiceContext

    /// Returns the schema of an environment in the schema language.
    func export(
        from container: String,
        _ kind: ServiceEnvironment
    ) async throws -> String {
        SchemaDefinition(try await schema(of: container, kind)).text
    }

    /// Returns the record types of an environment in structured form.
    func outline(
        of container: String,
        _ kind: ServiceEnvironment
    ) async throws -> SchemaOutline {
        SchemaOutline(try await schema(of: container, kind))
    }

    private func schema(of container: String, _ kind: ServiceEnvironment) async throws -> Schema {
        try await context.storage.read { reader in
            let environment = try ContainerDirectory(container).environment(kind, reader)
            return try Schema(reader.schema(environment.id))
        }
    }

    /// Checks that a text is a schema.
    static func validate(_ text: String) throws(SchemaSyntaxError) {
        _ = try SchemaDefinition.parse(text)
    }

    /// Returns the changes that turn one schema text into another.
    static func changes(
        from old: String,
        to new: String
    ) throws(SchemaSyntaxError) -> [SchemaChange] {
        try SchemaDefinition.parse(old).changes(to: SchemaDefinition.parse(new))
    }

    /// Replaces the schema of an environment: removes everything that the text does not name, the
    /// values of such fields too, and updates indexes.
    func importText(
        _ text: String,
        into container: String,
        _ kind: ServiceEnvironment,
        isDryRun: Bool
    ) async throws -> [SchemaChange] {
        let definition = try SchemaDefinition.parse(text)
        if isDryRun {
            let isNew = try await context.storage.read { reader in
                try reader.environment(container: container, kind) == nil
            }
            if isNew { return SchemaDefinition().changes(to: definition) }
        } else {
            try await Containers(context: context).add(container)
        }
        return try await apply(definition, container, kind, isDryRun: isDryRun)
    }

    /// Copies types, fields, indexes and roles from development to production, never data.
    func deploy(
        in container: String,
        isDryRun: Bool
    ) async throws -> [SchemaChange] {
        let definition = try await context.storage.read { reader in
            let development = try ContainerDirectory(container).environment(.development, reader)
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
        let plan = try await context.storage.read { reader in
            try SchemaPlan(
                definition,
                for: ContainerDirectory(container).environment(kind, reader),
                reader
            )
        }
        guard !isDryRun else { return plan.changes }
        var dropped = DroppedFields(plan.droppedFields, of: plan.environment.id)
        try await dropped.removeValues(context.storage)
        let version = context.randomness.identifier()
        let changes = try await context.storage.writeExclusively { [dropped] writer in
            writer.announceChangedCallers()
            // The schema may have grown since, and records may have come.
            let environment = try ContainerDirectory(container).environment(kind, writer)
            let plan = try SchemaPlan(definition, for: environment, writer)
            try dropped.removeRest(of: plan.droppedFields, writer)
            var migration = try SchemaMigration(environment, writer)
            try migration.apply(definition, plan, version: version)
            try RoleDirectory(environment: environment.id).keep(definition.roles, writer)
            return plan.changes
        }
        context.callers.removeAll()
        return changes
    }
}
