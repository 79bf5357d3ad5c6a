import CloudKit
import Foundation
import GRDB
import Synchronization

extension StoreDelegate {
    func beginFetch(_ zone: StoreZone) async throws {
        let fetch = try await file.writer.write { database in
            try database.run("UPDATE grdb_cloudkit_control SET session = session + 1")
            // A sweep that a crash interrupted continues.
            let sweeps = try Bool.fetchOne(
                database.cachedStatement(
                    sql: zone == .own
                        ? "SELECT sweeps OR engine IS NULL FROM grdb_cloudkit_control"
                        : "SELECT max(sweeps) FROM grdb_cloudkit_zone WHERE zone = \(zone.text.literal)"
                )
            )
            let session = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT session FROM grdb_cloudkit_control")
            )
            return Fetch(session: session ?? 0, sweeps: sweeps ?? false)
        }
        state.withLock { $0.fetches[zone] = fetch }
    }

    func fetched(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) async throws {
        var records: [StoreZone: [CKRecord]] = [:]
        for record in event.modifications.map(\.record) {
            guard let zone = zone(record.recordID.zoneID) else { continue }
            records[zone, default: []].append(record)
        }
        for (zone, records) in records.sorted(by: { $0.key < $1.key }) {
            try await fetched(records, zone)
        }
        var names: [StoreZone: [String]] = [:]
        for id in event.deletions.map(\.recordID) {
            guard let zone = zone(id.zoneID) else { continue }
            names[zone, default: []].append(id.recordName)
        }
        guard !names.isEmpty else { return }
        try await finishArrivals()
        for (zone, names) in names.sorted(by: { $0.key < $1.key }) {
            try await delete(names, zone)
        }
    }

    func fetched(_ records: [CKRecord], _ zone: StoreZone) async throws {
        if zone != .own { try await fetched(shares: records.compactMap { $0 as? CKShare }, zone) }
        try await arrived(records.filter { !($0 is CKShare) }, zone)
    }

    func delete(_ names: [String], _ zone: StoreZone) async throws {
        guard !names.isEmpty else { return }
        let (changes, replacedByDuplicate) = try await file.apply { database, mapping in
            var applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.delete(names)
            return (applier.changes, applier.replacedByDuplicate)
        }
        took(changes)
        tell(replacedByDuplicate)
    }

    /// Reports rows that lost to others with their UNIQUE values.
    func tell(_ replacedByDuplicate: [RowKey]) {
        for key in replacedByDuplicate {
            configuration.onEvent(.replacedByDuplicate(table: key.table, key: key.text))
        }
    }

    /// Ends a fetch: waiting rows are retried, and missing records are looked for.
    func endFetch(_ zone: StoreZone, _ database: CKDatabase) async throws {
        let fetch = state.withLock { $0.fetches.removeValue(forKey: zone) } ?? Fetch()
        var sweeps = fetch.sweeps
        if !sweeps {
            let unseen = try await unseen(zone, before: fetch.session, limit: 1)
            if let missing = try await missing(unseen, zone, database).first {
                if scope == .own {
                    state.withLock {
                        $0.suspect = Suspect(name: missing, session: fetch.session)
                    }
                } else {
                    sweeps = true
                }
            }
        }
        if sweeps { try await sweep(zone, before: fetch.session, database) }
        try await finishFetch(zone, database)
    }

    /// Completes a fetch whose last page an earlier process received without completing the fetch:
    /// no page repeats that it is the last.
    ///
    /// - Precondition: Everything was fetched.
    func finishInterrupted(_ database: CKDatabase) async throws {
        let zones =
            switch scope {
            case .own: [StoreZone.own]
            case .shared: try await file.read(StoreFile.sharedZones)
            case .public: []
            }
        for zone in zones where !state.withLock({ $0.finished.contains(zone) }) {
            try await finishFetch(zone, database)
        }
    }

    private func finishFetch(_ zone: StoreZone, _ database: CKDatabase) async throws {
        let (changes, replacedByDuplicate) = try await file.apply {
            [configuration] database, mapping in
            var applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.retryHidden()
            try applier.finishDeletions()
            try applier.journal.trim(to: configuration.journalLimit)
            if zone != .own { try Place.updateWrites(in: zone, database) }
            return (applier.changes, applier.replacedByDuplicate)
        }
        took(changes)
        tell(replacedByDuplicate)
        state.withLock { _ = $0.finished.insert(zone) }
        try await fillLacking(database)
    }

    /// Downloads assets that rows lack because they came later than their records.
    func fillLacking(_ database: CKDatabase) async throws {
        let scope = scope
        took(
            try await file.fillLacking(
                { scope.contains($0) },
                from: database,
                limit: configuration.batchLimit
            )
        )
    }

    /// Finds records that were deleted without a notice.
    ///
    /// A fetch from the beginning lists existing records, not earlier deletions. Records that it
    /// did not include are looked up by name, so a fetch that only repeated a page deletes nothing.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - session: The fetch that should include the records.
    ///   - zoneIsNew: Whether missing records were deleted with their zone.
    ///   - database: The zone's database.
    /// - Throws: A `CKError`, or an error of the file.
    private func sweep(
        _ zone: StoreZone,
        before session: Int64,
        zoneIsNew: Bool = false,
        _ database: CKDatabase
    ) async throws {
        let unseen = try await unseen(zone, before: session)
        for start in stride(from: 0, to: unseen.count, by: configuration.batchLimit) {
            let names = Array(unseen[start..<min(start + configuration.batchLimit, unseen.count)])
            let missing = try await missing(names, zone, database)
            if zone == .own, zoneIsNew, configuration.whenZoneIsDeleted != .deleteSynced {
                try await file.sendAgain(missing)
            } else {
                try await delete(missing, zone)
            }
        }
        try await file.writer.write { try StoreFile.sweep(zone, false, $0) }
    }

    /// Returns the records of a zone that a fetch did not include, by name.
    private func unseen(
        _ zone: StoreZone,
        before session: Int64,
        limit: Int = .max
    ) async throws -> [String] {
        try await file.read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT name FROM grdb_cloudkit_record
                    WHERE system IS NOT NULL AND session < ? AND zone = ? ORDER BY name LIMIT ?
                    """
            )
            return try DatabaseValue.fetchAll(statement, arguments: [session, zone, limit])
                .map(StoredName.text)
        }
    }

    /// Checks whether the user's zone was replaced by another with the same name, or was emptied.
    ///
    /// Another device deleted and recreated it between two fetches, or the token expired. The
    /// second fetch then starts from the beginning, finds no known record, and does not report it.
    /// The evidence is a record that is missing although a complete fetch since then has not
    /// brought its deletion.
    func confirmZone(_ suspect: Suspect, _ database: CKDatabase) async throws {
        let isKnown = try await file.read { database in
            try KnownRecord.fetch(database, name: suspect.name)?.system != nil
        }
        guard isKnown, try await !missing([suspect.name], .own, database).isEmpty else { return }
        try await sweep(.own, before: suspect.session, zoneIsNew: true, database)
        try await finishFetch(.own, database)
    }

    /// Checks the zone with another fetch, for which no event may wait.
    func confirmZoneLater(_ engine: CKSyncEngine) {
        guard let suspect = state.withLock({ exchange(&$0.suspect, with: nil) }) else { return }
        Task { [weak self] in
            do {
                try await engine.fetchChanges()
                try await self?.confirmZone(suspect, engine.database)
            } catch {
                self?.state.withLock { $0.suspect = suspect }
            }
        }
    }

    /// Returns those of some records that the server does not have.
    func missing(
        _ names: [String],
        _ zone: StoreZone,
        _ database: CKDatabase
    ) async throws -> [String] {
        guard !names.isEmpty else { return [] }
        let ids = names.map {
            CKRecord.ID(recordName: KnownRecord.recordName($0), zoneID: file.id(zone))
        }
        var missing: [String] = []
        for (id, result) in try await database.records(for: ids, desiredKeys: []) {
            if case .failure(let error) = result, (error as? CKError)?.code == .unknownItem {
                missing.append(id.recordName)
            }
        }
        return missing.sorted()
    }
}
