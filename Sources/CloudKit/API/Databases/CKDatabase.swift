public import Foundation

/// One of a container's databases, which holds records in zones.
///
/// ```swift
/// let database = CKContainer.default().privateCloudDatabase
/// let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
/// let noteID = CKRecord.ID(recordName: "first", zoneID: zone.zoneID)
/// let note = try await database.save(CKRecord(recordType: "Note", recordID: noteID))
/// let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
/// ```
///
/// Methods that belong to Objective-C on Apple platforms are declared in the class, where
/// subclasses can override them; methods that Apple's framework adds for Swift are declared in
/// extensions.
open class CKDatabase: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The kinds of databases in a container.
    @nonexhaustive
    public enum Scope: Int, Sendable {
        /// The public database, one for all users.
        case `public` = 1
        /// The private database, one for each user.
        case `private` = 2
        /// The shared database, with the zones and records that others share with the user.
        case shared = 3
    }

    /// The database's scope.
    open var databaseScope: CKDatabase.Scope { baseRequests.scope }

    /// The database's requests, whoever is signed in.
    let baseRequests: DatabaseRequests

    /// The database's requests for work that begins now, which belongs to the current user and ends
    /// when another user signs in.
    var requests: DatabaseRequests { baseRequests.begun() }

    /// The default settings of this database's operations and convenience methods.
    let settings: OperationSettings

    /// The container, which owns its databases.
    weak let container: CKContainer?

    init(
        scope: CKDatabase.Scope,
        connection: CloudConnection,
        container: CKContainer? = nil,
        settings: OperationSettings = OperationSettings()
    ) {
        self.container = container
        self.settings = settings
        var requests = DatabaseRequests(connection: connection, scope: scope)
        requests.settings = settings.callRequests
        baseRequests = requests
    }

    /// Runs an operation on this database.
    open func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        operation.begin()
        baseRequests.connection.operations.addOperation(operation)
    }

    // MARK: One record

    /// Fetches a record.
    ///
    /// - Throws: `CKError.unknownItem` when there is none, `zoneNotFound` without its zone.
    open func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await requests.fetch([recordID], desiredKeys: nil).single(recordID)
    }

    /// Fetches a record.
    @preconcurrency
    open func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetch([recordID], desiredKeys: nil).single(recordID)
        }
    }

    /// Saves a record that is new or has not changed on the server since it was fetched.
    ///
    /// - Returns: The same record with the values that the server set.
    /// - Throws: `CKError.serverRecordChanged` with all three versions when the server's is newer.
    @discardableResult
    open func save(_ record: CKRecord) async throws -> CKRecord {
        try await requests.save(record)
    }

    /// Saves a record that is new or unchanged on the server since it was fetched.
    @preconcurrency
    open func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.save(record)
        }
    }

    /// Deletes a record; one that does not exist counts as deleted.
    @discardableResult
    open func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await requests.delete(recordID)
    }

    /// Deletes a record; one that does not exist counts as deleted.
    @preconcurrency
    open func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(recordID)
        }
    }

    // MARK: One zone, and all

    /// Returns all zones.
    open func allRecordZones() async throws -> [CKRecordZone] {
        try await requests.allZones()
    }

    /// Fetches all zones.
    @preconcurrency
    open func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.allZones()
        }
    }

    /// Fetches a zone.
    ///
    /// - Throws: `CKError.zoneNotFound` when there is none.
    open func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await requests.fetchZones([zoneID]).single(zoneID)
    }

    /// Fetches a zone.
    @preconcurrency
    open func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.fetchZones([zoneID]).single(zoneID)
        }
    }

    /// Creates a zone; leaves an existing one as it is.
    @discardableResult
    open func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await requests.modifyZones(saving: [zone], deleting: []).saveResults
            .single(zone.zoneID)
    }

    /// Creates a zone; leaves an existing one as it is.
    @preconcurrency
    open func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.modifyZones(saving: [zone], deleting: []).saveResults
                .single(zone.zoneID)
        }
    }

    /// Deletes a zone with all its records; one that does not exist counts as deleted.
    @discardableResult
    open func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await requests.delete(zoneID)
    }

    /// Deletes a zone with all its records; one that does not exist counts as deleted.
    @preconcurrency
    open func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.delete(zoneID)
        }
    }

    // MARK: One subscription, and all

    /// Returns the user's subscriptions.
    open func allSubscriptions() async throws -> [CKSubscription] {
        try await requests.allSubscriptions()
    }

    /// Fetches the user's subscriptions.
    @preconcurrency
    open func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.allSubscriptions()
        }
    }

    /// Saves a subscription.
    @discardableResult
    open func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await requests.save(subscription)
    }

    /// Saves a subscription.
    @preconcurrency
    open func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.save(subscription)
        }
    }

    // MARK: Queries, deprecated

    /// Runs a query and returns its first page, without a cursor for the next one.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:)")
    open func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        try await requests.firstPage(query, zoneID)
    }

    /// Runs a query and fetches its first page, without a cursor for the next one.
    @available(*, deprecated, message: "Use fetch(withQuery:inZoneWith:completionHandler:)")
    @preconcurrency
    open func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.firstPage(query, zoneID)
        }
    }
}

extension DatabaseRequests {
    fileprivate func save(_ record: CKRecord) async throws(CKError) -> CKRecord {
        try await modify(RecordModification(saving: [record], deleting: [], atomically: false))
            .saveResults.single(record.recordID)
    }

    fileprivate func delete(_ recordID: CKRecord.ID) async throws(CKError) -> CKRecord.ID {
        try await modify(RecordModification(saving: [], deleting: [recordID], atomically: false))
            .deleteResults.single(recordID)
        return recordID
    }

    fileprivate func delete(_ zoneID: CKRecordZone.ID) async throws(CKError) -> CKRecordZone.ID {
        try await modifyZones(saving: [], deleting: [zoneID]).deleteResults.single(zoneID)
        return zoneID
    }

    fileprivate func save(
        _ subscription: CKSubscription
    ) async throws(CKError) -> CKSubscription {
        try await modifySubscriptions(saving: [subscription], deleting: []).saveResults
            .single(subscription.subscriptionID)
    }
}
