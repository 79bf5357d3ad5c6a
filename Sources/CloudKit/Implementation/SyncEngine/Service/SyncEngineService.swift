/// All that an engine asks of the outside: the one seam between it and a service.
package protocol SyncEngineService: Sendable {
    /// Answers a request, on behalf of a user.
    ///
    /// When somebody else is signed in by now, nothing is sent and the answer is
    /// `notAuthenticated`; nil asks for no user in particular. The request goes out as the group's
    /// configuration says.
    func answer(
        _ request: SyncRequest,
        for user: String?,
        in group: CKOperationGroup?
    ) async -> SyncAnswer

    /// The changes of the database that the service reports by itself while the stream is read.
    ///
    /// The stream begins with a report, and has one after every interruption, because some may
    /// have been missed.
    func pushes() -> AsyncStream<Void>

    /// Signs that another user, or none, may be signed in.
    func accountChanges() -> AsyncStream<Void>
}

/// What an engine asks a service.
package enum SyncRequest: Sendable {
    /// Who is signed in.
    case identifyUser
    /// To report changes of the database under a subscription, one of any name where it is nil.
    case subscribe(CKSubscription.ID?)
    /// The next page of the zones that changed.
    case databaseChanges(since: CKServerChangeToken?)
    /// The next page of the records of a zone that changed.
    case zoneChanges(CKRecordZone.ID, since: CKServerChangeToken?)
    /// To save and delete zones.
    case modifyZones(saving: [CKRecordZone], deleting: [CKRecordZone.ID])
    /// To save and delete records.
    case modifyRecords(CKSyncEngine.RecordZoneChangeBatch)
}

/// What a service answers.
package enum SyncAnswer: Sendable {
    /// The record name of the user; nil when nobody is signed in.
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
        /// Why some records of the page could not be read.
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

/// What a service reports by itself.
package enum SyncNotice: Hashable, Sendable {
    /// Something in the database changed.
    case databaseChanged
    /// Somebody signed in or out.
    case accountChanged
}
