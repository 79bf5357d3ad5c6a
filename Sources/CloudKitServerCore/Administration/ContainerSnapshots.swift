import CloudKitWire

/// Reset, snapshot and restore of containers.
///
/// Each is one transaction, and after a reset or a restore all earlier change tokens are refused as
/// expired.
struct ContainerSnapshots: Sendable {
    let context: ServiceContext

    /// Differences that are listed at most.
    private static let differencesLimit = 1000

    /// Resets a container to its initial state, except for its users and credentials.
    func reset(_ container: String, keepsSchema: Bool) async throws {
        let incarnation = context.randomness.identifier()
        let now = context.clock.milliseconds
        try await context.changeCallers { writer in
            for environment in try ContainerDirectory(container).environments(writer) {
                let restart = try EnvironmentRestart(environment, now: now, writer)
                try Self.empty(environment, writer)
                if !keepsSchema {
                    try writer.removeSchema(of: environment.id)
                    try RoleDirectory(environment: environment.id).keep([], writer)
                }
                try restart.begin(incarnation, writer)
                try IndexForm(environment: environment.id).setCurrent(writer)
            }
        }
    }

    /// Saves the state of a container as a named snapshot, which replaces an earlier one with the
    /// same name.
    func take(
        _ name: String,
        of container: String
    ) async throws -> StoredSnapshot {
        if let reason = NameRules.label(name, "The snapshot's name") {
            throw RequestError(.badRequest, reason: reason)
        }
        let snapshot = StoredSnapshot(
            container: container,
            name: name,
            created: context.clock.milliseconds
        )
        try await context.storage.write { writer in
            let environments = try ContainerDirectory(container).environments(writer)
            try writer.addSnapshot(
                snapshot,
                of: environments.map(\.id),
                documents: environments.flatMap(Self.collections)
            )
        }
        return snapshot
    }

    /// Restores a container to the state of a snapshot; its current contents are lost.
    func restore(_ name: String, of container: String) async throws {
        let incarnation = context.randomness.identifier()
        let now = context.clock.milliseconds
        try await context.changeCallers { writer in
            let environments = try ContainerDirectory(container).environments(writer)
            try Self.checkSnapshot(name, of: container, writer)
            let restarts = try environments.map { try EnvironmentRestart($0, now: now, writer) }
            for environment in environments { try Self.empty(environment, writer) }
            try writer.restoreSnapshot(container, name)
            for restart in restarts { try restart.begin(incarnation, writer) }
            for environment in environments {
                let roles = try Schema(writer.schema(environment.id)).roles
                try RoleDirectory(environment: environment.id).keep(roles, writer)
            }
        }
        // A snapshot from an older version has index keys in another format.
        try await IndexRenewal(context: context).run()
    }

    /// Returns the snapshots of a container, by name.
    func all(of container: String) async throws -> [StoredSnapshot] {
        try await context.storage.read { try $0.snapshots(container) }
    }

    /// Removes a snapshot.
    func remove(_ name: String, of container: String) async throws {
        try await context.storage.write { writer in
            try Self.checkSnapshot(name, of: container, writer)
            try writer.removeSnapshot(container, name)
        }
    }

    /// Compares a snapshot with a later one, or with what the container holds now.
    func differences(
        from earlier: String,
        to later: String?,
        of container: String
    ) async throws -> ContainerDifferences {
        try await context.storage.read { reader in
            for name in [earlier, later].compactMap(\.self) {
                try Self.checkSnapshot(name, of: container, reader)
            }
            let found = try reader.snapshotDifferences(
                of: container,
                from: earlier,
                to: later,
                implicitZone: WireZoneID.defaultZoneName,
                limit: Self.differencesLimit + 1
            )
            return ContainerDifferences(
                differences: try found.prefix(Self.differencesLimit).compactMap { each in
                    guard let database = try reader.database(each.database),
                        let environment = try reader.environment(database.environment)
                    else { return nil }
                    return ContainerDifferences.Difference(
                        kind: each.kind,
                        environment: environment.kind,
                        ownerRecordName: try database.owner
                            .flatMap { try reader.user($0)?.recordName },
                        zoneName: each.zone,
                        recordName: each.record,
                        recordType: each.type
                    )
                },
                hasMore: found.count > Self.differencesLimit
            )
        }
    }

    private static func checkSnapshot(
        _ name: String,
        of container: String,
        _ reader: any StorageReader
    ) throws {
        // By their bytes, as the storage compares them: equal text may have several forms in Unicode.
        let found = try reader.snapshots(container).contains {
            $0.name.utf8.elementsEqual(name.utf8)
        }
        guard found else {
            throw RequestError(
                .notFound,
                reason: "Container \(container) has no snapshot '\(name)'; take one first"
            )
        }
    }

    private static func empty(
        _ environment: StoredEnvironment,
        _ writer: any StorageWriter
    ) throws {
        try writer.removeZones(of: environment.id)
        try writer.removeDocuments(in: collections(environment) + jobs(environment))
    }

    /// Returns the collections of documents that belong to an environment.
    private static func collections(_ environment: StoredEnvironment) -> [String] {
        [
            "subscription", "subscribedType", "shareLink", "shareMembership", "shareMember",
            "shareExpiry", "shareJoining",
        ].map { "\($0)/\(environment.id.rawValue)" } + [
            IndexForm(environment: environment.id).collection
        ]
    }

    /// Returns the collections of work in progress, which snapshots do not contain.
    private static func jobs(_ environment: StoredEnvironment) -> [String] {
        ["archive", "copyJob", "copyNames"].map { "\($0)/\(environment.id.rawValue)" }
    }
}
