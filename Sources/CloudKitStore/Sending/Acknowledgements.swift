import CloudKit
import Foundation
import GRDB

/// What the server answered to a batch, applied within one transaction.
struct Acknowledgements {
    /// What the delegate has to do about the answers.
    struct Result: Sendable {
        var changes: [RowChange] = []
        /// Whether the zone has to be made again, and whether the user deleted it.
        var needsZone = false
        var userDeletedZone = false
        var isOverQuota = false
        /// Whether the batch was too large as a whole.
        var wasTooLarge = false
        var setAside: [String] = []
        /// What was changed by someone who may not.
        var takenBack: [RowKey] = []
        /// What gave way to other rows with the same UNIQUE values.
        var gaveWay: [RowKey] = []
        /// Whether there is news that explains a refusal.
        var needsFetch = false
    }

    let database: Database
    let mapping: RowMapping
    private var applier: ChangeApplier

    private var answer = Result()
    /// Whether rows may refer to others that are out of sight now.
    private var changedSight = false
    /// When the server accepted the last record.
    private var latest: Int64?

    init(_ database: Database, _ mapping: RowMapping, zone: String = "") throws {
        self.database = database
        self.mapping = mapping
        applier = try ChangeApplier(database, mapping, zone: zone)
    }

    /// What came of the answers.
    var result: Result {
        var result = answer
        result.changes = applier.changes
        result.gaveWay = applier.gaveWay
        return result
    }

    /// Takes in what the server accepted of a batch.
    ///
    /// - Parameters:
    ///   - records: The records that it saved.
    ///   - entries: The entries that the batch was made from, by record name.
    ///   - sent: Those that went as a whole.
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
            } else if try accept(record, entry) {
                noted.append(record.name)
            }
        }
        try KnownRecord.clearSent(database, names: noted)
        try OutboxEntry.clear(database, versions: whole.map(\.version))
        for (record, key, _) in whole { try locate(record, key) }
    }

    /// Takes in a save of which more must be known than what went; says whether it was noted.
    private mutating func accept(_ record: SavedRecord, _ sentEntry: OutboxEntry?) throws -> Bool {
        guard let before = try KnownRecord.fetch(database, name: record.name), let key = before.key
        else { return false }
        var known = before
        if let sent = try known.sentFields() {
            var entry = sentEntry
            // An entry that went as a whole is cleared if it is the same still; others are looked at.
            if entry.map({ known.wentWhole($0, with: sent) }) != true {
                entry = try OutboxEntry.fetch(database, key)
            }
            try applier.acknowledge(sent, &known, &entry)
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

    /// Notes the version that the server made, unless the file has another record than went.
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

    /// Learns the server's time from what it accepted.
    func adjustClock() throws {
        if let latest { try StoreClock.adjust(database, server: latest) }
    }

    /// Learns where a saved record is; one that was taken out of the tree is its owner's alone.
    private mutating func locate(_ record: SavedRecord, _ key: RowKey) throws {
        guard applier.hasPlaces else { return }
        guard var place = try Place.fetch(database, key) else { return }
        let hadShare = place.share
        place.name = record.name
        place.parent = record.parent
        place.share = record.share
        try place.save(database, key)
        guard !place.zone.isEmpty else {
            return try SharedTrees(database, mapping)
                .settle([key], includesBelow: hadShare != record.share)
        }
        guard record.parent == nil, record.share == nil else { return }
        guard try !JoinedZone.isShared(place.zone, database) else { return }
        try applier.letGoWithAllBelow(key)
        changedSight = true
    }

    /// Takes in that a record is gone.
    mutating func acceptDeletion(_ name: String, _ entry: OutboxEntry?) throws {
        try KnownRecord.fetch(database, name: name)?.delete(database)
        try entry?.clear(database)
        try applier.noteGone(name)
    }

    /// Does with what refers to records that are gone what the schema says.
    mutating func resolveReferences() throws {
        try applier.resolveReferences()
        if changedSight { try applier.showWaiting() }
    }

    /// Takes in why a record was refused.
    mutating func refuse(
        _ name: String,
        _ error: CKError,
        _ entry: OutboxEntry?,
        batchCount: Int
    ) throws {
        if Self.isUnanswered(error) { return }
        guard var known = try KnownRecord.fetch(database, name: name) else { return }
        if error.code == .serverRecordChanged {
            // The server's record tells whether it is our own save, whose answer was lost.
            guard let server = error.serverRecord else { return }
            let remote = RemoteRecord(server, mapping)
            // The files of its assets come with a fetch alone.
            guard case .success = remote.fields else { return answer.needsFetch = true }
            return try applier.apply([remote])
        }
        known.sent = nil
        try known.save(database)
        switch error.code {
        case .unknownItem: try applier.delete([name])
        case .zoneNotFound: answer.needsZone = true
        case .userDeletedZone:
            answer.needsZone = true
            answer.userDeletedZone = true
        case .batchRequestFailed: break
        case .permissionFailure where !applier.zone.isEmpty:
            guard let entry else { return }
            try applier.takeBack(known, entry)
            changedSight = true
            answer.takenBack.append(entry.key)
            answer.needsFetch = true
        case .referenceViolation where entry?.isDeleted == true:
            // Somebody put rows below it meanwhile.
            answer.needsFetch = true
            try applier.removeBelow(name)
            // What is below goes first, however few records a batch holds.
            if var last = entry {
                last.version = try StoreClock.tick(database)
                try last.save(database)
            }
        case .quotaExceeded: answer.isOverQuota = true
        case .limitExceeded where batchCount > 1: answer.wasTooLarge = true
        default:
            guard let entry else { return }
            let problem =
                "The server refused the record '\(name)': \(error.localizedDescription)"
            answer.setAside.append(problem)
            try OutboxEntry.setAside(database, version: entry.version, problem)
        }
    }

    /// Whether nobody knows if the server did what it was asked for.
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
