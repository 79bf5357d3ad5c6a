public import CloudKitWire

// Containers, for operators and tests. None of these functions is available over the service's own
// protocol.
extension CloudService {
    /// Creates a container with both environments, unless it exists.
    public func addContainer(_ container: String) async throws {
        try await Containers(context: context).add(container)
    }

    /// Returns the identifiers of all containers, in order.
    public func containers() async throws -> [String] {
        try await Containers(context: context).all()
    }

    /// Returns a summary of each container for operators.
    ///
    /// Records are counted by the index of names, which every type has, so that no record is read.
    public func overview() async throws -> [ContainerOverview] {
        try await Containers(context: context).overview()
    }

    /// Expires all change tokens of a container, so that its clients fetch everything again.
    ///
    /// This is necessary after a backup has been restored because clients may hold newer tokens
    /// and versions than the data. Change tags from before go on to be compared with those of the
    /// data, and no later version gets one of them.
    public func expireChangeTokens(container: String) async throws {
        try await Containers(context: context).expireChangeTokens(of: container)
    }

    /// Resets a container to its initial state, except for its users and credentials.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - keepsSchema: A Boolean value that indicates whether record types, fields and indexes are kept.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container, or `StorageError`;
    ///   nothing changes then.
    public func resetContainer(_ container: String, keepsSchema: Bool = false) async throws {
        try await ContainerSnapshots(context: context).reset(container, keepsSchema: keepsSchema)
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
        try await ContainerSnapshots(context: context).take(name, of: container)
    }

    /// Restores a container to the state of a snapshot; its current contents are lost.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container's identifier.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container or snapshot, or
    ///   `StorageError`; nothing changes then.
    public func restoreSnapshot(_ name: String, of container: String) async throws {
        try await ContainerSnapshots(context: context).restore(name, of: container)
    }

    /// Returns the snapshots of a container, by name.
    public func snapshots(of container: String) async throws -> [StoredSnapshot] {
        try await ContainerSnapshots(context: context).all(of: container)
    }

    /// Removes a snapshot.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container's identifier.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown one, or `StorageError`.
    public func removeSnapshot(_ name: String, of container: String) async throws {
        try await ContainerSnapshots(context: context).remove(name, of: container)
    }

    /// Compares a snapshot with a later one, or with what the container holds now.
    ///
    /// - Parameters:
    ///   - earlier: The snapshot's name.
    ///   - later: The other one's; nil for now.
    ///   - container: The container's identifier.
    /// - Returns: The records that differ in a value, their parent or their share, 1,000 at most.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container or snapshot, or `StorageError`.
    public func differences(
        from earlier: String,
        to later: String? = nil,
        of container: String
    ) async throws -> ContainerDifferences {
        try await ContainerSnapshots(context: context)
            .differences(from: earlier, to: later, of: container)
    }

    /// Returns the schema of an environment in the schema language.
    public func exportSchema(
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> String {
        try await ContainerSchemas(context: context).export(from: container, kind)
    }

    /// Returns the record types of an environment in structured form.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container, or `StorageError`.
    public func schemaOutline(
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> SchemaOutline {
        try await ContainerSchemas(context: context).outline(of: container, kind)
    }

    /// Checks that a text is a schema.
    ///
    /// - Throws: `SchemaSyntaxError` with the position of the first mistake.
    public static func validateSchema(_ text: String) throws(SchemaSyntaxError) {
        try ContainerSchemas.validate(text)
    }

    /// Returns the changes that turn one schema text into another.
    ///
    /// - Throws: `SchemaSyntaxError`.
    public static func schemaChanges(
        from old: String,
        to new: String
    ) throws(SchemaSyntaxError) -> [SchemaChange] {
        try ContainerSchemas.changes(from: old, to: new)
    }

    /// Replaces the schema of an environment: removes everything that the text does not name, and
    /// updates indexes.
    ///
    /// In development, records lose the values of fields that the text does not name: each of them
    /// counts as changed, without a notification. This is done in commits of 200 records, before the
    /// schema changes. Users lose the roles that the text does not name.
    ///
    /// - Parameters:
    ///   - text: The schema.
    ///   - container: The container's identifier; a new container is created.
    ///   - kind: The environment.
    ///   - isDryRun: A Boolean value that indicates whether to return the changes without applying them.
    /// - Returns: The changes.
    /// - Throws: `SchemaSyntaxError`, or `RequestError` with `BAD_REQUEST` for a change that production
    ///   refuses, for a type that has records, and for a field with another type; nothing changes then.
    public func importSchema(
        _ text: String,
        container: String,
        environment kind: ServiceEnvironment,
        isDryRun: Bool = false
    ) async throws -> [SchemaChange] {
        try await ContainerSchemas(context: context)
            .importText(text, into: container, kind, isDryRun: isDryRun)
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
        try await ContainerSchemas(context: context).deploy(in: container, isDryRun: isDryRun)
    }

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
        try await OperatorSessions(context: context)
            .open(in: container, environment, userRecordName: userRecordName)
    }

    /// The devices of a container that this service has seen since it began, the latest first.
    ///
    /// At most 1,000 are remembered, of all containers together.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container, or `StorageError`.
    public func devices(container: String) async throws -> [DeviceReport] {
        try await DeviceReports(context: context).all(of: container)
    }

    /// Sends what a subscription would tell, without a change: of a record that is called “test”, or of
    /// the zone or database that it watches.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription.
    ///   - database: The database that it watches.
    ///   - user: Whose it is.
    ///   - kind: The environment.
    /// - Returns: The number of notified devices.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown subscription or user, or `StorageError`.
    public func sendTestPush(
        _ subscriptionID: String,
        database: DatabaseScope,
        of user: ServiceUser,
        environment kind: ServiceEnvironment
    ) async throws -> Int {
        try await TestPush(context: context)
            .send(subscriptionID, database: database, of: user, environment: kind)
    }

    /// Deletes zones of a user's private database as the settings of Apple's systems do, in one commit.
    ///
    /// Until a zone is created again, the owner's requests about it fail with `ZONE_NOT_FOUND` and
    /// the reason; the feed of the database has the reason too. Participants see a deleted zone
    /// without a reason.
    ///
    /// - Parameters:
    ///   - names: The zones; by default all custom zones of the user.
    ///   - user: The owner.
    ///   - environment: The environment of the zones.
    ///   - reason: The reason for the deletion.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist, `ZONE_NOT_FOUND`
    ///   for a zone that does not, and `BAD_REQUEST` for the default zone; nothing changes then.
    public func deleteZones(
        _ names: [String]? = nil,
        of user: ServiceUser,
        environment: ServiceEnvironment,
        because reason: ZoneDeletionReason
    ) async throws {
        try await ZoneLoss(context: context)
            .delete(names, of: user, environment: environment, because: reason)
    }
}
