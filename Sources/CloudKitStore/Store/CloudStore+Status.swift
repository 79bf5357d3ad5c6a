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
                let (waiting, lacking) = try Self.waiting(database)
                var status = StoreStatus(
                    obstacle: obstacle,
                    waitingToSend: try OutboxEntry.count(database, where: "problem IS NULL"),
                    waitingForParents: waiting.count,
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
                status.waitingRows = waiting.rows
                status.inaccessibleReferenceCount = lacking.count
                status.rowsWithInaccessibleReferences = lacking.rows
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

    /// The maximum number of rows that a status lists.
    private static let rowLimit = 100

    /// The records that wait for others, in the order of their rows.
    private struct Waiting {
        var count = 0
        var rows: [StoreStatus.WaitingRow] = []

        mutating func add(_ row: StoreStatus.WaitingRow) {
            count += 1
            if rows.count < rowLimit { rows.append(row) }
        }
    }

    /// Returns the records that wait for others, and those that lack what is out of this user's sight.
    ///
    /// A reference to another user's record waits for a fetch if that record is shared, for the
    /// reason of its quarantine to end, or for its deletion to be sent. Otherwise the row shows without
    /// the reference, or not at all.
    private static func waiting(
        _ database: Database
    ) throws -> (waiting: Waiting, lacking: Waiting) {
        let targets = try WaitingTargets(database)
        var (waiting, lacking) = (Waiting(), Waiting())
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(Words.sql(ofNumber: "tbl")) AS tbl, key, waiting, zone
                FROM grdb_cloudkit_record WHERE waiting IS NOT NULL ORDER BY tbl IS NULL, 1, key
                """
        )
        while let row = try rows.next() {
            let zone: StoreZone = row["zone"]
            guard let table: String = row["tbl"] else {
                waiting.count += 1
                continue
            }
            // Of the user's own records, which all wait, only the listed ones are looked up.
            guard zone.isShared || waiting.rows.count < rowLimit else {
                waiting.count += 1
                continue
            }
            let (name, reason) = try targets.target(row["waiting"], in: zone)
            let found = StoreStatus.WaitingRow(
                table: table,
                key: row["key"],
                recordName: name,
                isTargetQuarantined: reason == .isQuarantined,
                isTargetDeleted: reason == .isDeleted
            )
            if zone.isShared, reason == .isMissing {
                lacking.add(found)
            } else {
                waiting.add(found)
            }
        }
        return (waiting, lacking)
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
