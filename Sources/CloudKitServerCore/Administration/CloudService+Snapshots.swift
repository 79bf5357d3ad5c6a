import CloudKitWire

// Reset, snapshot and restore of a container. Each is one transaction, and after a reset or a
// restore all earlier change tokens are refused as expired.
extension CloudService {
    /// Resets a container to its initial state, except for its users and credentials.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - keepsSchema: A Boolean value that indicates whether record types, fields and indexes are kept.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container, or `StorageError`;
    ///   nothing changes then.
    public func resetContainer(_ container: String, keepsSchema: Bool = false) async throws {
        let incarnation = randomness.identifier()
        let now = clock.milliseconds
        try await storage.write { writer in
            for environment in try Self.environments(of: container, writer) {
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
        callers.removeAll()
    }

    /// Saves the state of a container as a named snapshot, which replaces an earlier one with the
    /// same name.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container's identifier.
    /// - Returns: The new snapshot.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container and `BAD_REQUEST` for an
    ///   invalid name, or `StorageError`.
    @discardableResult
    public func takeSnapshot(
        _ name: String,
        of container: String
    ) async throws -> StoredSnapshot {
        guard (1...255).contains(name.utf8.count) else {
            throw RequestError(
                .badRequest,
                reason: "A snapshot's name has 1 to 255 bytes; this one has \(name.utf8.count)"
            )
        }
        guard !name.allSatisfy(\.isWhitespace) else {
            throw RequestError(
                .badRequest,
                reason: "A snapshot's name is blank; give it one by which people find it again"
            )
        }
        let snapshot = StoredSnapshot(
            container: container,
            name: name,
            created: clock.milliseconds
        )
        try await storage.write { writer in
            let environments = try Self.environments(of: container, writer)
            try writer.addSnapshot(
                snapshot,
                of: environments.map(\.id),
                documents: environments.flatMap(Self.collections)
            )
        }
        return snapshot
    }

    /// Restores a container to the state of a snapshot; its current contents are lost.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container's identifier.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container or snapshot, or
    ///   `StorageError`; nothing changes then.
    public func restoreSnapshot(_ name: String, of container: String) async throws {
        let incarnation = randomness.identifier()
        let now = clock.milliseconds
        try await storage.write { writer in
            let environments = try Self.environments(of: container, writer)
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
        callers.removeAll()
        // A snapshot from an older version has index keys in another format.
        try await updateIndexes()
    }

    /// Returns the snapshots of a container, by name.
    public func snapshots(of container: String) async throws -> [StoredSnapshot] {
        try await storage.read { try $0.snapshots(container) }
    }

    /// Removes a snapshot.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container's identifier.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown one, or `StorageError`.
    public func removeSnapshot(_ name: String, of container: String) async throws {
        try await storage.write { writer in
            try Self.checkSnapshot(name, of: container, writer)
            try writer.removeSnapshot(container, name)
        }
    }

    static func checkSnapshot(
        _ name: String,
        of container: String,
        _ reader: any StorageReader
    ) throws {
        guard try reader.snapshots(container).contains(where: { $0.name == name }) else {
            throw RequestError(
                .notFound,
                reason: "Container \(container) has no snapshot '\(name)'; take one first"
            )
        }
    }

    private static func environments(
        of container: String,
        _ reader: any StorageReader
    ) throws -> [StoredEnvironment] {
        try ServiceEnvironment.allCases.map { try environment(container, $0, reader) }
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
