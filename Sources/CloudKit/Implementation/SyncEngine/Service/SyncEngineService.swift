/// The service that an engine works on: the only seam between it and the outside.
package protocol SyncEngineService: Sendable {
    /// Sends a request on behalf of a user and returns the response.
    ///
    /// If another user is signed in by then, nothing is sent and the response is
    /// `notAuthenticated`; nil stands for any user. The request uses the group's configuration.
    func respond(
        to request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncResponse

    /// Returns the database's changes that the service reports while the stream is read.
    ///
    /// The stream begins with a report, and has one after every interruption, because reports may
    /// have been missed.
    func pushes() -> AsyncStream<Void>

    /// Returns signals that another user, or none, may be signed in.
    func accountChanges() -> AsyncStream<Void>
}

/// The requests of an engine to a service.
package enum SyncRequest: Sendable {
    /// Identifies the signed-in user.
    case identifyUser
    /// Subscribes to changes of the database with a subscription, of any name for nil.
    case subscribe(CKSubscription.ID?)
    /// Fetches the next page of the changed zones.
    case databaseChanges(since: CKServerChangeToken?)
    /// Fetches the next page of a zone's changed records.
    case zoneChanges(CKRecordZone.ID, since: CKServerChangeToken?)
    /// Saves and deletes zones.
    case modifyZones(saving: [CKRecordZone], deleting: [CKRecordZone.ID])
    /// Saves and deletes records.
    case modifyRecords(CKSyncEngine.RecordZoneChangeBatch)
}

/// The responses of a service.
package enum SyncResponse: Sendable {
    /// The user's record name; nil when no user is signed in.
    case user(String?)
    case subscribed(CKSubscription.ID)
    case databaseChanges(DatabaseChangesPage)
    case zoneChanges(ZoneChangesPage)
    case modifiedZones(ModifiedZones)
    case modifiedRecords(ModifiedRecords)
    /// The request failed as a whole.
    case failure(CKError)

    package struct DatabaseChangesPage: Sendable {
        package var modifications: [CKRecordZone.ID]
        package var deletions: [CKDatabase.DatabaseChange.Deletion]
        package var token: CKServerChangeToken
        package var moreComing: Bool

        package init(
            modifications: [CKRecordZone.ID],
            deletions: [CKDatabase.DatabaseChange.Deletion],
            token: CKServerChangeToken,
            moreComing: Bool
        ) {
            self.modifications = modifications
            self.deletions = deletions
            self.token = token
            self.moreComing = moreComing
        }
    }

    package struct ZoneChangesPage: Sendable {
        package var modifications: [CKRecord]
        package var deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// The errors of the page's records that could not be read.
        package var failures: [CKRecord.ID: CKError]
        package var token: CKServerChangeToken
        package var moreComing: Bool

        package init(
            modifications: [CKRecord],
            deletions: [CKDatabase.RecordZoneChange.Deletion],
            failures: [CKRecord.ID: CKError] = [:],
            token: CKServerChangeToken,
            moreComing: Bool
        ) {
            self.modifications = modifications
            self.deletions = deletions
            self.failures = failures
            self.token = token
            self.moreComing = moreComing
        }
    }

    package struct ModifiedZones: Sendable {
        package var saves: [CKRecordZone.ID: Result<CKRecordZone, CKError>]
        package var deletions: [CKRecordZone.ID: Result<Void, CKError>]

        package init(
            saves: [CKRecordZone.ID: Result<CKRecordZone, CKError>] = [:],
            deletions: [CKRecordZone.ID: Result<Void, CKError>] = [:]
        ) {
            self.saves = saves
            self.deletions = deletions
        }
    }

    package struct ModifiedRecords: Sendable {
        package var saves: [CKRecord.ID: Result<CKRecord, CKError>]
        package var deletions: [CKRecord.ID: Result<Void, CKError>]

        package init(
            saves: [CKRecord.ID: Result<CKRecord, CKError>] = [:],
            deletions: [CKRecord.ID: Result<Void, CKError>] = [:]
        ) {
            self.saves = saves
            self.deletions = deletions
        }
    }
}

/// The events that a service reports.
package enum SyncNotice: Hashable, Sendable {
    /// The database changed.
    case databaseChanged
    /// A user signed in or out.
    case accountChanged
}
