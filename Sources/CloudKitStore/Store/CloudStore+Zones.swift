package import CloudKit
import GRDB
import Synchronization

extension CloudStore {
    /// Deletes the zone, with all records, from the server.
    ///
    /// The rows stay, and nothing is sent until ``uploadEverything()`` is called.
    ///
    /// - Throws: A `CKError`, or an error of the database.
    public func destroyZone() async throws {
        await stop()
        try await file.set("blocked", StoreFile.Block.zoneDestroyed.rawValue)
        _ = try await database.modifyRecordZones(saving: [], deleting: [file.zoneID])
        let file = file
        try await file.writer.write { database in
            try file.forgetServer(database)
            try database.execute(
                sql: "UPDATE grdb_cloudkit_control SET zoneIsSaved = 0, engine = NULL"
            )
        }
    }

    /// Handles the loss of a zone for a reason that the web service does not report; tests pass it.
    package func loseZone(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) async throws {
        guard let engine = try await engine() else { return }
        try await state.withLock { $0.own }?.channel.ownZone.deleted(reason, engine)
    }

    /// Sends all rows again, into a new zone if necessary: after the user deleted the app's data,
    /// or after ``destroyZone()``.
    ///
    /// - Throws: An error of the database.
    public func uploadEverything() async throws {
        await stop()
        let file = file
        try await file.writer.write { database in
            try file.forgetServer(database)
            try file.addEverything(database)
            try database.execute(
                sql: """
                    UPDATE grdb_cloudkit_control SET zoneIsSaved = 0, engine = NULL, blocked =
                        CASE WHEN blocked IN ('purged', 'zoneDestroyed') THEN NULL ELSE blocked END
                    """
            )
        }
        try await start()
    }

    /// Assigns the rows to the user who is signed in now, and sends all of them to that user's database.
    ///
    /// - Throws: A `CKError` when nobody is signed in, or an error of the database.
    public func adoptAccount() async throws {
        await stop()
        let file = file
        // Shares were addressed to the previous user.
        for zone in try await file.read(StoreFile.sharedZones) where zone.isShared {
            publish(try await file.leave(zone).changes)
        }
        try await file.writer.write { database in
            try file.takeHome(database)
            try file.forgetServer(database)
            try file.addEverything(database)
            try database.execute(
                sql: """
                    UPDATE grdb_cloudkit_control SET zoneIsSaved = 0, engine = NULL,
                        sharedEngine = NULL, account = NULL, blocked = NULL
                    """
            )
        }
        try await start()
    }

    /// Fetches everything from the beginning.
    ///
    /// Unsent edits stay, and rows that were deleted elsewhere are found.
    ///
    /// - Throws: An error of the database.
    public func refetchEverything() async throws {
        await stop()
        try await file.writer.write { try StoreFile.fetchEverything($0) }
        try await start()
    }
}
