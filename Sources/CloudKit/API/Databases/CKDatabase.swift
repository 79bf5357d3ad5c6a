public import Foundation

/// One of a container's databases: records in zones.
///
/// Methods that are Objective-C's on Apple platforms stand in the class, where subclasses can override
/// them; those that Apple's framework adds for Swift stand in extensions.
open class CKDatabase: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// Which of a container's databases this is.
    @nonexhaustive
    public enum Scope: Int, Sendable {
        /// One for all users.
        case `public` = 1
        /// One for each user.
        case `private` = 2
        /// What others share with the user.
        case shared = 3
    }

    /// Which of the container's databases this is.
    open var databaseScope: CKDatabase.Scope { anybodysRequests.scope }

    /// What the database can be asked, whoever is signed in.
    let anybodysRequests: DatabaseRequests

    /// What the database can be asked in a piece of work that begins now: it is for the user of this
    /// moment, and ends when another one signs in.
    var requests: DatabaseRequests { anybodysRequests.begun() }

    /// What operations and convenience methods of this database do unless told otherwise.
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
        anybodysRequests = requests
    }

    /// Runs an operation on this database.
    open func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        operation.begin()
        anybodysRequests.connection.operations.addOperation(operation)
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

    /// Saves a record that is new or unchanged on the server since it was fetched.
    ///
    /// - Returns: The same record with what the server added.
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

    /// Lists all zones.
    open func allRecordZones() async throws -> [CKRecordZone] {
        try await requests.allZones()
    }

    /// Lists all zones.
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

    /// Makes a zone; one that exists is left as it is.
    @discardableResult
    open func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await requests.modifyZones(saving: [zone], deleting: []).saveResults
            .single(zone.zoneID)
    }

    /// Makes a zone; one that exists is left as it is.
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

    /// Lists the user's subscriptions.
    open func allSubscriptions() async throws -> [CKSubscription] {
        try await requests.allSubscriptions()
    }

    /// Lists the user's subscriptions.
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

    /// Searches records, without a way to the second page.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:)")
    open func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        try await requests.firstPage(query, zoneID)
    }

    /// Searches records, without a way to the second page.
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
