import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
    /// The time that a query reaches back before the newest known record, because records become
    /// visible in another order than that of their dates.
    private static let overlap: Int64 = 60_000_000

    /// Fetches the modified records of the public tables, looks for deleted ones when due, and
    /// sends waiting changes.
    func syncPublic(_ database: CKDatabase) async throws {
        for table in file.catalog.tables where table.isPublic { try await query(table, database) }
        let changes = try await file.apply { database, mapping in
            var applier = try ChangeApplier(database, mapping, zone: .public)
            try applier.retryHidden()
            try applier.finishDeletions()
            return applier.changes
        }
        took(changes)
        try await fillLacking(database)
        try await sendPublic(database)
    }

    private func query(_ table: TableSchema, _ database: CKDatabase) async throws {
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
        let interval = configuration.publicSweepInterval.components
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
            try await self.fetched(records, .public)
        }
        try await finishArrivals()
        if sweeps { try await sweepPublic(table, database) }
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
    private func sweepPublic(_ table: TableSchema, _ database: CKDatabase) async throws {
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
        let unlisted = known.filter { listed[$0] == nil }
        for start in stride(from: 0, to: unlisted.count, by: configuration.batchLimit) {
            let end = min(start + configuration.batchLimit, unlisted.count)
            let names = Array(unlisted[start..<end])
            let lost = try await missing(names, .public, database)
            try await delete(lost, .public)
        }
    }

    private func sendPublic(_ database: CKDatabase) async throws {
        let control = try await file.control()
        guard control.account != nil, control.blocked == nil else { return }
        state.withLock {
            $0.attempted = []
            $0.unanswered = nil
            $0.isOverQuota = false
        }
        while let (batch, deletions) = try await next(database) {
            let records = batch.saves.map(\.record)
            guard !records.isEmpty || !deletions.isEmpty else { continue }
            let results = try await database.modifyRecords(
                saving: records,
                deleting: deletions,
                atomically: false
            )
            var answers = Answers()
            for record in records {
                switch results.saveResults[record.recordID] {
                case .success(let record): answers.saved.append(SavedRecord(record))
                case .failure(let error as CKError):
                    answers.unsaved.append((record.recordID, error))
                case .failure(let error): throw error
                case nil: continue
                }
            }
            for id in deletions {
                switch results.deleteResults[id] {
                case .success: answers.deleted.append(id)
                case .failure(let error as CKError): answers.undeleted[id] = error
                case .failure(let error): throw error
                case nil: continue
                }
            }
            _ = try await take(answers)
            if let error = state.withLock({ $0.unanswered }) { throw error }
        }
    }
}
