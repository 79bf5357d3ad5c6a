import CloudKit
import Foundation
import GRDB
import Synchronization

extension CloudStore {
    /// The changes that wait, and the reasons.
    ///
    /// - Throws: An error of the database.
    public var status: StoreStatus {
        get async throws {
            let obstacle = try await obstacle()
            let progress = state.withLock { $0.own }?.channel.context.reporter.progress
            return try await file.read { database in
                let waits = try Self.waits(database)
                var status = StoreStatus(
                    obstacle: obstacle,
                    waitingToSend: try OutboxEntry.count(database, where: "problem IS NULL"),
                    waitingForParents: 0,
                    quarantined: [],
                    progress: progress
                )
                if progress?.direction == .sending {
                    status.progress?.total = (progress?.done ?? 0) + status.waitingToSend
                }
                status.oldestChange = Self.date(
                    try Int64.fetchOne(database, sql: "SELECT min(since) FROM grdb_cloudkit_outbox")
                )
                status.lastSync = Self.date(
                    try Int64.fetchOne(database, sql: "SELECT lastSync FROM grdb_cloudkit_control")
                )
                status.waitingForParents =
                    try Int.fetchOne(
                        database,
                        sql: "SELECT count(*) FROM grdb_cloudkit_record WHERE \(waits)"
                    ) ?? 0
                status.inaccessibleReferenceCount =
                    try Int.fetchOne(
                        database,
                        sql: """
                            SELECT count(*) FROM grdb_cloudkit_record
                            WHERE waiting IS NOT NULL AND NOT (\(waits))
                            """
                    ) ?? 0
                status.waitingRows = try Self.rows(database, where: waits)
                status.rowsWithInaccessibleReferences = try Self.rows(
                    database,
                    where: "waiting IS NOT NULL AND NOT (\(waits))"
                )
                status.quarantined = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT tbl, key, problem FROM grdb_cloudkit_outbox WHERE problem IS NOT NULL
                        UNION ALL
                        SELECT \(Words.sql(ofNumber: "tbl")), key, problem
                            FROM grdb_cloudkit_record WHERE problem IS NOT NULL
                        ORDER BY tbl, key
                        """
                ).map { .init(table: $0["tbl"], key: $0["key"], reason: $0["problem"]) }
                return status
            }
        }
    }

    /// Returns some of the rows whose records wait for others or lack them.
    private static func rows(
        _ database: Database,
        where condition: String
    ) throws -> [StoreStatus.WaitingRow] {
        let quarantined = try KnownRecord.quarantinedNames(database)
        return try Row.fetchAll(
            database,
            sql: """
                SELECT \(Words.sql(ofNumber: "tbl")) AS tbl, key, waiting, zone FROM grdb_cloudkit_record
                WHERE \(condition) AND tbl IS NOT NULL ORDER BY 1, key LIMIT 100
                """
        ).map { row in
            let name: String = row["waiting"]
            return .init(
                table: row["tbl"],
                key: row["key"],
                recordName: name,
                isTargetQuarantined:
                    quarantined.contains(KnownRecord.name(name, asideIn: row["zone"]))
            )
        }
    }

    /// Returns the SQL condition that a record waits for another.
    ///
    /// A reference to another user's record waits for a fetch if that record is shared, or for the
    /// record's key to be free. Otherwise the row shows without the reference, or not at all.
    private static func waits(_ database: Database) throws -> String {
        // By their text: SQL does not compare it with the stored form of a name.
        let aside = try TakenKeys.quarantined(database).map(\.name.literal)
        return """
            waiting IS NOT NULL AND (zone IN ('', \(StoreZone.public.text.literal))
                OR zone || char(10) || waiting IN (\(aside.joined(separator: ", "))))
            """
    }

    private func obstacle() async throws -> StoreStatus.Obstacle? {
        let (isPaused, failure, isOverQuota) = state.withLock { state in
            (
                state.isPaused, state.lastFailure,
                state.own?.channel.sender.isOverQuota ?? false
            )
        }
        switch try await file.control().blocked {
        case .noAccount: return .noAccount
        case .accountSwitched: return .accountSwitched
        case .purged: return .purged
        case .zoneDestroyed: return .zoneDestroyed
        case nil: break
        }
        if isPaused || !configuration.isConnected() { return .paused }
        if isOverQuota { return .quotaExceeded }
        return failure.map { .failed($0) }
    }

    static func date(_ microseconds: Int64?) -> Date? {
        microseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    }

    /// Returns the sync state of a row.
    ///
    /// - Parameters:
    ///   - key: The row's key: the value as text, bytes in hexadecimal, several columns as a JSON
    ///     array.
    ///   - table: The table's name.
    /// - Returns: The row's state.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced, or an error of the database.
    public func state(of key: String, in table: String) async throws -> RowState {
        let schema = try schema(table)
        let key = RowKey(table: table, text: key)
        let name = try key.recordName(schema)
        return try await file.read { database in
            let known = try KnownRecord.fetch(database, name: name)
            if let entry = try OutboxEntry.fetch(database, key) {
                if let problem = entry.problem { return .quarantined(reason: problem) }
                return .waitingToSend(since: Self.date(entry.since) ?? .distantPast)
            }
            guard let known else { return .unknown }
            if let problem = known.problem { return .quarantined(reason: problem) }
            if let parent = known.waiting { return .waitingForParent(recordName: parent) }
            return .synced
        }
    }

    func schema(_ table: String) throws -> TableSchema {
        guard let schema = file.catalog[table] else {
            throw CloudStoreError(
                .noSuchTable,
                "The table '\(table)' is not synced; the synced ones are "
                    + file.catalog.tables.map(\.name).joined(separator: ", ")
            )
        }
        return schema
    }
}
