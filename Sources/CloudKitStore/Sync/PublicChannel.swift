import CloudKit
import Foundation
import GRDB

/// The channel over which the tables of the public database sync: it has no change feed, so records that were
/// modified since the last query are queried, and deleted ones are looked for when due.
final class PublicChannel: Sendable {
    /// The time that a query reaches back before the newest known record, because records become
    /// visible in another order than that of their dates.
    private static let overlap: Int64 = 60_000_000

    let context: SyncContext
    private let file: StoreFile
    private let database: CKDatabase
    private let receiver: ChangeReceiver
    private let sender: ChangeSender

    init(_ context: SyncContext, folder: URL) {
        self.context = context
        file = context.file
        database = context.database
        receiver = ChangeReceiver(context)
        sender = ChangeSender(context, folder: folder)
    }

    /// Fetches the modified records of the public tables, looks for deleted ones when due, and
    /// sends waiting changes.
    func sync() async throws {
        for table in file.catalog.tables where table.isPublic { try await query(table) }
        let changes = try await file.apply { database, mapping in
            let applier = try ChangeApplier(database, mapping, zone: .public)
            try applier.retryHidden()
            try applier.finishDeletions()
            return applier.changes
        }
        context.reporter.received(changes)
        try await context.fillLacking()
        try await send()
    }

    private func query(_ table: TableSchema) async throws {
        let (since, swept, now) = try await file.read { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT since, swept FROM grdb_cloudkit_public WHERE tbl = ?",
                arguments: [table.name]
            )
            let now = try Int64.fetchOne(
                database,
                sql: "SELECT \(ControlTables.now) FROM grdb_cloudkit_control"
            )
            return (row?["since"] as Int64? ?? 0, row?["swept"] as Int64? ?? 0, now ?? 0)
        }
        let interval = context.configuration.publicSweepInterval.components
        // A clock that was set back does not show when that was.
        let sweeps = now < swept || now - swept >= interval.seconds * 1_000_000
        let from = since == 0 ? 0 : since - Self.overlap
        var newest = since
        let predicate = NSPredicate(
            format: "modificationDate > %@",
            argumentArray: [Date(timeIntervalSince1970: Double(from) / 1_000_000) as NSDate]
        )
        let query = CKQuery(recordType: table.recordType, predicate: predicate)
        try await database.pages(of: query) { records in
            for record in records {
                let modified = record.modificationDate?.timeIntervalSince1970 ?? 0
                newest = max(newest, Int64(modified * 1_000_000))
            }
            try await self.receiver.receive(records, .public)
        }
        // The date is stored after its records, or a crash between the two would skip them.
        try await receiver.finish()
        if sweeps { try await sweep(table) }
        let (reached, last) = (newest, sweeps ? now : swept)
        try await file.writer.write { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO grdb_cloudkit_public (tbl, since, swept) VALUES (?, ?, ?)
                    """,
                arguments: [table.name, reached, last]
            )
        }
    }

    /// Deletes the rows whose records no longer exist: those that a query for all records does not
    /// list, and that are not found by name either.
    private func sweep(_ table: TableSchema) async throws {
        // Listed first: a record that is saved in between is missing in the list, but is found by
        // name.
        let listed = try await database.tags(ofType: table.recordType)
        let known = try await file.read { database in
            try DatabaseValue.fetchAll(
                database,
                sql: """
                    SELECT name FROM grdb_cloudkit_record
                    WHERE system IS NOT NULL AND tbl = \(Words.sql("?")) AND zone = ? ORDER BY name
                    """,
                arguments: [table.name, StoreZone.public]
            ).map(StoredName.text)
        }
        let missing = MissingRecords(context)
        for names in context.portions(of: known.filter { listed[$0] == nil }) {
            try await receiver.delete(missing.among(names, .public), .public)
        }
    }

    private func send() async throws {
        let control = try await file.control()
        guard control.account != nil, control.blocked == nil else { return }
        sender.beginRound()
        while let (batch, deletions) = try await sender.next() {
            let records = batch.saves.map(\.record)
            guard !records.isEmpty || !deletions.isEmpty else { continue }
            let (saves, deletes) = try await database.modifyRecords(
                saving: records,
                deleting: deletions,
                atomically: false
            )
            try await sender.write(Responses(saves, of: records, deletes, of: deletions))
            // Nothing gets through now: the rest is sent with the next sync.
            if let error = sender.unanswered { throw error }
        }
    }
}
