import CloudKit
import Foundation
import GRDB

extension CloudStore {
    /// Compares the names and versions of all records with the server's, and all rows with the
    /// versions that the server acknowledged; lists the records that do not show, with the reasons.
    ///
    /// Unsent changes are not differences. Sync first, so that other devices' recent changes are
    /// not differences either.
    ///
    /// - Parameter repairs: Whether to repair the differences: records are fetched again, and rows
    ///   with untracked edits are sent.
    /// - Returns: The differences, and the records that do not show.
    /// - Throws: A `CKError`, or an error of the database.
    public func verify(repairing repairs: Bool = false) async throws -> Verification {
        let mapping = file.mapping
        var result = Verification()
        let shared = try await file.read { database in
            let waiting = try TakenKeys.quarantined(database).map(\.zone)
                .filter { $0.isShared || $0.isOwned }
            return Set(try StoreFile.sharedZones(database) + waiting).sorted()
        }
        var zones = [StoreZone.own] + shared
        if file.catalog.hasPublicTables { zones.append(.public) }
        for zone in zones {
            let server =
                zone == .public
                ? try await publicTags().mapValues { Version(tag: $0) }
                : try await versions(in: zone)
            let part = try await file.read { database in
                try Self.compare(server, zone, database, mapping, comparesPlaces: zone == .own)
            }
            if repairs, !part.differences.isEmpty { try await repair(part.differences, zone) }
            result.add(part)
        }
        return result
    }

    /// Compares the rows with the versions that the server acknowledged, like
    /// ``verify(repairing:)`` but without a request: these differences are defects at any time.
    package func verifyLocally() async throws -> Verification {
        let mapping = file.mapping
        return try await file.read { database in
            let known = try KnownRecord.fetchAll(
                database,
                where: "system IS NOT NULL AND tag IS NOT NULL"
            )
            var result = Verification()
            for (zone, records) in Dictionary(grouping: known, by: \.zone) {
                let tags = records.map { ($0.recordName, Version(tag: $0.tag ?? "")) }
                let server = Dictionary(tags) { first, _ in first }
                let part = try Self.compare(server, zone, database, mapping)
                result.add(part)
            }
            return result
        }
    }

    /// The compared parts of a record that the server has.
    private struct Version: Sendable {
        var tag: String
        /// The name of the record above it in a shared tree.
        var parent: String?
    }

    /// Returns the versions of all records of a zone, by name.
    private func versions(in zone: StoreZone) async throws -> [String: Version] {
        let source = database(of: file.id(zone))
        var versions: [String: Version] = [:]
        var token: CKServerChangeToken?
        while true {
            let page:
                (
                    modificationResultsByID: [CKRecord.ID: Result<
                        CKDatabase.RecordZoneChange.Modification, any Error
                    >], deletions: [CKDatabase.RecordZoneChange.Deletion],
                    changeToken: CKServerChangeToken, moreComing: Bool
                )
            do {
                page = try await source.recordZoneChanges(
                    inZoneWith: file.id(zone),
                    since: token,
                    desiredKeys: []
                )
            } catch let error as CKError
                where error.code == .zoneNotFound || error.code == .userDeletedZone
            {
                return [:]
            }
            for (id, result) in page.modificationResultsByID {
                let record = try result.get().record
                if record is CKShare { continue }
                versions[id.recordName] = Version(
                    tag: record.recordChangeTag ?? "",
                    parent: record.parent?.recordID.recordName
                )
            }
            for deletion in page.deletions { versions[deletion.recordID.recordName] = nil }
            token = page.changeToken
            if !page.moreComing { return versions }
        }
    }

    private static func compare(
        _ server: [String: Version],
        _ zone: StoreZone,
        _ database: Database,
        _ mapping: RowMapping,
        comparesPlaces: Bool = false
    ) throws -> Verification {
        let known = try KnownRecord.fetchAll(
            database,
            where: "system IS NOT NULL AND zone = ?",
            arguments: [zone]
        )
        var result = Verification(compared: server.count)
        let names = Set(known.map(\.recordName))
        for name in server.keys.sorted() where !names.contains(name) {
            result.differences.append(.init(kind: .unknownHere, recordName: name))
        }
        let rows = RowStore(database: database, mapping: mapping)
        let defaults = try defaults(rows)
        let trees = SharedTrees(database, mapping)
        let hasPlaces = try Place.exist(database)
        let targets = try WaitingTargets(database)
        for record in known {
            let version = server[record.recordName]
            var kind = try difference(record, version?.tag, rows, defaults)
            if comparesPlaces, kind == nil, hasPlaces || version?.parent != nil,
                try !trees.isInPlace(record, below: version?.parent),
                try record.key.map(trees.isPending) != true
            {
                kind = .otherPlace
            }
            if let kind {
                result.differences.append(.init(kind: kind, recordName: record.recordName))
            }
            if let reason = try reasonForHiding(record, targets, rows) {
                result.hidden.append(
                    .init(recordName: record.recordName, owner: zone.owner, reason: reason)
                )
            }
        }
        return result
    }

    /// Returns why a record does not show; nil when it does, or when nothing waits for it to.
    private static func reasonForHiding(
        _ known: KnownRecord,
        _ targets: WaitingTargets,
        _ rows: RowStore
    ) throws -> String? {
        if let problem = known.problem { return problem }
        guard let name = known.waiting, let key = known.key,
            let table = rows.mapping.catalog[key.table], try rows.row(key, table) == nil
        else { return nil }
        let (target, reason) = try targets.target(name, in: known.zone)
        if target.isEmpty { return "It waits for a record that has not arrived" }
        let why =
            switch reason {
            case .isQuarantined: "which is quarantined"
            case .isDeleted: "which is deleted here; the next sync sends that"
            case .isMissing:
                known.zone.isShared
                    ? "which its owner does not share, or which has not arrived"
                    : "which has not arrived"
            }
        return "It waits for the record '\(target)', \(why)"
    }

    private static func difference(
        _ known: KnownRecord,
        _ tag: String?,
        _ rows: RowStore,
        _ defaults: Defaults
    ) throws -> Verification.Difference.Kind? {
        guard let tag else { return .missingOnServer }
        if tag != known.tag { return .otherVersion }
        guard let key = known.key, let table = rows.mapping.catalog[key.table],
            known.waiting == nil, known.problem == nil
        else { return nil }
        let entry = try OutboxEntry.fetch(rows.database, key)
        if entry?.isDeleted == true { return nil }
        guard let row = try rows.row(key, table) else { return .missingHere }
        let fields = try rows.mapping.fields(row, table)
        let base = try known.baseFields(like: fields)
        for (field, value) in fields where entry?.changed[field] == nil {
            guard let theirs = expected(field, base, table, defaults), value != theirs
            else { continue }
            if value.isNull, case .asset = theirs.plain { continue }
            if value.isNull, known.hidesTarget(of: theirs) { continue }
            return .unnotedEdit
        }
        return nil
    }

    /// The defaults of columns, by table and field.
    private typealias Defaults = [String: [String: StoreValue]]

    private static func defaults(_ rows: RowStore) throws -> Defaults {
        var defaults: Defaults = [:]
        for table in rows.mapping.catalog.tables where table.columns.contains(where: \.hasDefault) {
            defaults[table.name] = try rows.defaults(of: table)
        }
        return defaults
    }

    /// Returns the server's value for a row, or the column's default for a field that it never had;
    /// nil where that is no constant, for references, which may be cleared, and for columns that only
    /// the record's name holds.
    private static func expected(
        _ field: String,
        _ base: [String: StoreValue],
        _ table: TableSchema,
        _ defaults: Defaults
    ) -> StoreValue? {
        // Another client takes no value for the default, and so does every device for one that may not be NULL.
        let isAbsent =
            base[field]?.isNull == true
            && (table.format != nil || table.byField[field]?.isNotNull == true)
        if let value = base[field], !isAbsent { return value }
        guard let column = table.byField[field], !column.isKey else { return nil }
        if let value = table.format?.defaults(in: base)[field] {
            // An encrypted value may only be out of reach.
            return column.isEncrypted ? nil : value
        }
        guard column.hasDefault else { return .null }
        // An asset's NULL, and that of another client's format, is a field that is not there.
        guard column.target == nil, column.form != .asset, table.format == nil else { return nil }
        return defaults[table.name]?[field]
    }

    private func repair(
        _ differences: [Verification.Difference],
        _ zone: StoreZone
    ) async throws {
        let source = database(of: file.id(zone))
        let named = Dictionary(grouping: differences, by: \.kind).mapValues { $0.map(\.recordName) }
        let mapping = file.mapping
        // A deleted row's values were deleted with it.
        let fetched = [.unknownHere, .otherVersion, .missingHere].flatMap { named[$0] ?? [] }
        let gone = named[.missingOnServer] ?? []
        let (edited, missing) = (named[.unnotedEdit] ?? [], named[.missingHere] ?? [])
        let moved = named[.otherPlace] ?? []
        var records: [RemoteRecord] = []
        for start in stride(from: 0, to: fetched.count, by: configuration.batchLimit) {
            let part = fetched[start..<min(start + configuration.batchLimit, fetched.count)]
            let ids = part.map { CKRecord.ID(recordName: $0, zoneID: file.id(zone)) }
            let found = try await source.records(for: ids)
            records += ids.compactMap { id in
                guard case .success(let record) = found[id] else { return nil }
                return RemoteRecord(record, mapping)
            }
        }
        let arrived = records
        let changes = try await file.apply { database, mapping in
            for name in missing {
                try KnownRecord.fetch(database, name: name)?.forgetTag(database)
            }
            let applier = try ChangeApplier(database, mapping, zone: zone)
            try applier.apply(arrived)
            try applier.delete(gone)
            try applier.retryHidden()
            try applier.finishDeletions()
            let rows = RowStore(database: database, mapping: mapping)
            let defaults = try Self.defaults(rows)
            for name in edited { try Self.noteEdit(name, rows, defaults) }
            let keys = try moved.compactMap { try KnownRecord.fetch(database, name: $0)?.key }
            let trees = SharedTrees(database, mapping)
            try trees.settle(keys, includesBelow: true)
            try trees.send(keys)
            return applier.changes
        }
        publish(changes)
    }

    /// Adds the columns that differ from the known version to the outbox; NULL that the record cannot express becomes
    /// the value that the missing field stands for.
    private static func noteEdit(
        _ name: String,
        _ rows: RowStore,
        _ defaults: Defaults
    ) throws {
        guard let known = try KnownRecord.fetch(rows.database, name: name), let key = known.key,
            let table = rows.mapping.catalog[key.table], let row = try rows.row(key, table)
        else { return }
        let now = try StoreClock.tick(rows.database)
        let fields = try rows.mapping.fields(row, table)
        let base = try known.baseFields(like: fields)
        var entry =
            try OutboxEntry.fetch(rows.database, key)
            ?? OutboxEntry(key: key, isDeleted: false, changed: [:], version: now)
        var missing: [String: StoreValue] = [:]
        for (field, value) in fields {
            guard let theirs = expected(field, base, table, defaults), theirs != value,
                !(value.isNull && known.hidesTarget(of: theirs))
            else { continue }
            if value.isNull, let standIn = table.format?.defaults(in: base)[field] {
                missing[field] = standIn
                if base[field]?.isNull ?? true { continue }
            }
            entry.changed[field] = now
        }
        if !missing.isEmpty { _ = try rows.write(missing, key, table, over: row, files: [:]) }
        guard !entry.changed.isEmpty else { return }
        entry.version = now
        try entry.save(rows.database)
    }
}

extension Verification {
    /// Adds the findings about another zone.
    fileprivate mutating func add(_ other: Verification) {
        compared += other.compared
        differences += other.differences
        hidden += other.hidden
    }
}
