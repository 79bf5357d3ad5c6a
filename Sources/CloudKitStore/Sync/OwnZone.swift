import CloudKit
import GRDB

/// The user's own zone: whether it exists, whose it is, and the consequences of its loss and of another account.
struct OwnZone: Sendable {
    private let file: StoreFile
    private let configuration: StoreConfiguration
    private let reporter: SyncReporter

    init(_ context: SyncContext) {
        file = context.file
        configuration = context.configuration
        reporter = context.reporter
    }

    func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType,
        _ engine: CKSyncEngine
    ) async throws {
        let owner = try await file.control().account
        switch change {
        case .signIn(let user), .switchAccounts(_, let user):
            // The rows belong to another user, and must not get into this account: the app decides.
            guard owner == nil || owner == user.recordName else {
                try await file.set("blocked", StoreFile.Block.accountSwitched.rawValue)
                reporter.onEvent(.switchedAccounts)
                return
            }
            try await signedIn(user, engine)
        case .signOut:
            try await file.set("blocked", StoreFile.Block.noAccount.rawValue)
            reporter.onEvent(.signedOut)
        @unknown default: break
        }
    }

    private func signedIn(_ user: CKRecord.ID, _ engine: CKSyncEngine) async throws {
        try await file.writer.write { database in
            // The account no longer blocks sync.
            try database.execute(
                sql: """
                    UPDATE grdb_cloudkit_control SET account = ?, blocked =
                        CASE WHEN blocked IN (?, ?) THEN NULL ELSE blocked END
                    """,
                arguments: [
                    user.recordName, StoreFile.Block.noAccount.rawValue,
                    StoreFile.Block.accountSwitched.rawValue,
                ]
            )
        }
        try await add(engine)
        reporter.onEvent(.signedIn)
    }

    /// Creates the zone, unless it is known to exist or must not be created.
    func add(_ engine: CKSyncEngine) async throws {
        let control = try await file.control()
        guard !control.zoneIsSaved, control.blocked == nil, control.account != nil else { return }
        engine.state.add(
            pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: file.zoneID))]
        )
    }

    /// Handles the zone's deletion; the reason is nil when unknown.
    func deleted(
        _ reason: CKDatabase.DatabaseChange.Deletion.Reason?,
        _ engine: CKSyncEngine
    ) async throws {
        // A zone that this device destroyed is no news, and one that never existed was not lost.
        let control = try await file.control()
        guard control.blocked != .zoneDestroyed, control.blocked != .purged else { return }
        if reason != nil || control.zoneIsSaved {
            let loss =
                switch reason {
                case .deleted: configuration.whenZoneIsDeleted
                case .purged: configuration.whenZoneIsPurged
                case .encryptedDataReset: configuration.whenEncryptedDataIsReset
                // Nobody reported that the data was to be deleted.
                case nil: StoreConfiguration.ZoneDeletionPolicy.upload
                @unknown default: configuration.whenZoneIsDeleted
                }
            reporter.received(try await file.loseZone(loss))
            if let reason { reporter.onEvent(.zoneDeleted(reason)) }
        }
        try await add(engine)
    }
}
