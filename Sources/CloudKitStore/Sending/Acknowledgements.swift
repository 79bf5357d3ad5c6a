import CloudKit
import Foundation
import GRDB

/// The server's response to a batch, applied within one transaction.
///
/// A save that the server would refuse again is quarantined.
struct Acknowledgements {
    /// The channel's tasks after a response.
    struct Outcome: Sendable {
        var changes: [RowChange] = []
        /// `true` when the zone has to be created again, with whether the user deleted it.
        var needsZone = false
        var userDeletedZone = false
        var isOverQuota = false
        /// `true` when the batch as a whole was too large.
        var wasTooLarge = false
        var quarantined: [String] = []
        /// The changes that the user was not permitted to make.
        var editsRefused: [RowKey] = []
        /// The rows that lost to others with the same UNIQUE values.
        var replacedByDuplicate: [RowKey] = []
        /// `true` when a fetch will explain a refusal.
        var needsFetch = false
    }

    let database: Database
    let mapping: RowMapping
    private let applier: ChangeApplier

    private var collected = Outcome()
    /// `true` when rows may refer to others that are out of sight now.
    private var changedSight = false
    /// `true` when the server has deleted a record.
    private var hasDeleted = false
    /// The time at which the server accepted the last record.
    private var latest: Int64?

    init(_ database: Database, _ mapping: RowMapping, zone: StoreZone = .own) throws {
        self.database = database
        self.mapping = mapping
        applier = try ChangeApplier(database, mapping, zone: zone)
    }

    /// The outcome of the response.
    var outcome: Outcome {
        var outcome = collected
        outcome.changes = applier.changes
        outcome.editsRefused = applier.editsRefused
        outcome.replacedByDuplicate = applier.replacedByDuplicate
        return outcome
    }

    /// Applies the server's acceptance of a batch.
    ///
    /// - Parameters:
    ///   - records: The saved records.
    ///   - entries: The batch's outbox entries, by record name.
    ///   - sent: The saves that include all changes of their entries.
    /// - Throws: An error of the database.
    mutating func accept(
        _ records: [SavedRecord],
        _ entries: [String: OutboxEntry],
        _ sent: [String: SentRecord]
    ) throws {
        var noted: [String] = []
        var whole: [(record: SavedRecord, key: RowKey, version: Int64)] = []
        for record in records {
            let entry = entries[record.name]
            // The usual case: while the save was in flight nothing happened to the row, so that the
            // base that was prepared with the batch is right and the row need not be read.
            if let entry, let sent = sent[record.name],
                try note(
                    record,
                    base: sent.base,
                    after: sent.tag,
                    version: sent.version,
                    entry: entry.version
                )
            {
                noted.append(record.name)
                whole.append((record, entry.key, entry.version))
            } else if try accept(record) {
                noted.append(record.name)
            }
        }
        // Collected, so that one statement serves many records.
        try KnownRecord.clearSent(database, names: noted)
        try OutboxEntry.clear(database, versions: whole.map(\.version))
        for (record, key, _) in whole { try locate(record, key) }
        // The saved values may be those that stood in the way. Which of two rows stays is decided after a fetch.
        let placing = try ChangeApplier(
            database,
            mapping,
            zone: applier.zone,
            defersUniqueness: true
        )
        try placing.retryQuarantined(records.map(\.name))
        applier.context.add(placing.context)
    }

    /// Applies a save that requires a look at the file; returns whether it was saved.
    private mutating func accept(_ record: SavedRecord) throws -> Bool {
        // A record that gave up its key meanwhile is fetched in its new version.
        guard let before = try KnownRecord.fetch(database, name: record.name),
            before.zone == applier.zone, let key = before.key
        else { return false }
        var known = before
        if let sent = try known.sentFields() {
            var entry = try OutboxEntry.fetch(database, key)
            try applier.settlement.acknowledge(sent, &known, &entry)
        }
        let table = mapping.catalog[key.table]
        let row = try table.flatMap { table in
            try RowStore(database: database, mapping: mapping).row(key, table)
                .map { try mapping.fields($0, table) }
        }
        let isNoted = try note(
            record,
            base: known.baseData(database, row: row ?? [:], table),
            after: before.tag,
            version: before.sent?.version
        )
        try locate(record, key)
        return isNoted
    }

    /// Saves the version that the server created, unless the file has another record than the sent one.
    private mutating func note(
        _ record: SavedRecord,
        base: Data,
        after tag: String?,
        version: Int64?,
        entry: Int64? = nil
    ) throws -> Bool {
        guard
            try KnownRecord.accept(
                database,
                record,
                base: base,
                after: tag,
                version: version,
                entry: entry
            )
        else { return false }
        if let modified = record.modified { latest = max(latest ?? modified, modified) }
        return true
    }

    /// Adjusts the clock to the times of the accepted records.
    func adjustClock() throws {
        if let latest { try StoreClock.adjust(database, server: latest) }
    }

    /// Updates the place of a saved record; one that was moved out of the tree belongs to its owner alone.
    private mutating func locate(_ record: SavedRecord, _ key: RowKey) throws {
        guard applier.context.hasPlaces else { return }
        guard var place = try Place.fetch(database, key) else { return }
        let hadShare = place.share
        place.name = record.name
        place.parent = record.parent
        place.share = record.share
        try place.save(database, key)
        guard place.zone != .own else {
            return try SharedTrees(database, mapping)
                .settle([key], includesBelow: hadShare != record.share)
        }
        guard record.parent == nil, record.share == nil, !mapping.catalog.hasFormats else { return }
        // In a zone that is shared as a whole, a record is shared wherever it lies.
        guard try !JoinedZone.isShared(place.zone, database) else { return }
        try applier.withdrawer.letGoWithAllBelow(key)
        changedSight = true
    }

    /// Applies the deletion of a record.
    mutating func acceptDeletion(_ name: String, _ entry: OutboxEntry?) throws {
        try KnownRecord.fetch(database, name: name)?.delete(database)
        // By its version, so that a row that was inserted again meanwhile stays in the outbox.
        try entry?.clear(database)
        try applier.goneReferences.noteGone(name)
        hasDeleted = true
    }

    /// Applies the schema's actions to references to deleted records, whose keys others may have now.
    mutating func resolveReferences() throws {
        try applier.goneReferences.resolve()
        // A deleted record frees its key, and so does a row that left this user's sight.
        if hasDeleted || changedSight { try applier.retryTakenKeys() }
        if changedSight { try applier.showWaiting() }
    }

    /// Applies the refusal of a record.
    mutating func refuse(
        _ name: String,
        _ error: CKError,
        _ entry: OutboxEntry?,
        batchCount: Int
    ) throws {
        // Nobody knows what the server did: the note of the save stays until a response or a fetch
        // shows it.
        if Self.isUnanswered(error) { return }
        guard var known = try KnownRecord.fetch(database, name: name), known.zone == applier.zone
        else { return }
        if error.code == .serverRecordChanged {
            // The server's record shows whether it is our own save, whose response was lost.
            guard let server = error.serverRecord else { return }
            let remote = RemoteRecord(server, mapping)
            // Only a fetch brings the files of its assets.
            guard case .success = remote.fields else { return collected.needsFetch = true }
            return try applier.apply([remote])
        }
        // The server has no part of the save, so the note must not be taken for one without a
        // response.
        known.sent = nil
        try known.save(database)
        switch error.code {
        // The record was deleted meanwhile. The table's rule decides now, before the fetch brings
        // the deletion.
        case .unknownItem:
            try applier.delete([name])
            // The record may be in another zone now.
            if mapping.catalog.hasFormats { collected.needsFetch = true }
        case .zoneNotFound: collected.needsZone = true
        case .userDeletedZone:
            collected.needsZone = true
            collected.userDeletedZone = true
        // Another record was the cause; this one is sent again.
        case .batchRequestFailed: break
        // In the user's own zone no share forbids anything, and the error is one like others.
        case .permissionFailure where applier.zone != .own:
            guard let entry else { return }
            try applier.reverter.takeBack(known, entry)
            changedSight = true
            applier.context.refuseEdits(of: entry.key)
            collected.needsFetch = true
        case .referenceViolation where entry?.isDeleted == true:
            // Another user put rows below it meanwhile.
            collected.needsFetch = true
            guard try applier.goneReferences.removeBelow(name) else {
                try applier.reverter.bringBack(name)
                changedSight = true
                return
            }
            // The rows below are deleted first, however few records a batch holds. A deletion that was
            // reverted meanwhile is not sent again.
            if let entry, var last = try OutboxEntry.fetch(database, entry.key),
                last.version == entry.version
            {
                last.version = try StoreClock.tick(database)
                try last.save(database)
            }
        case .quotaExceeded: collected.isOverQuota = true
        // Fewer records may fit; a single one that is too large never does.
        case .limitExceeded where batchCount > 1: collected.wasTooLarge = true
        // The same save would be refused again: it waits for the next edit, which ends the
        // quarantine.
        default:
            guard let entry else { return }
            let problem =
                "The server refused the record '\(name)': \(error.localizedDescription)"
            collected.quarantined.append(problem)
            try OutboxEntry.quarantine(database, version: entry.version, problem)
        }
    }

    /// Returns whether it is unknown if the server carried out the request.
    static func isUnanswered(_ error: CKError) -> Bool {
        switch error.code {
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable,
            .requestRateLimited, .zoneBusy, .operationCancelled, .notAuthenticated,
            .accountTemporarilyUnavailable:
            true
        default: false
        }
    }
}
