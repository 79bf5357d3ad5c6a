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
    }

    let database: Database
    let mapping: RowMapping
    private var applier: ChangeApplier

    private var answer = Result()
    /// When the server accepted the last record.
    private var latest: Int64?

    init(_ database: Database, _ mapping: RowMapping) throws {
        self.database = database
        self.mapping = mapping
        applier = try ChangeApplier(database, mapping)
    }

    /// What came of the answers.
    var result: Result {
        var result = answer
        result.changes = applier.changes
        return result
    }

    /// Takes in what the server accepted.
    mutating func accept(_ record: RemoteRecord) throws {
        guard var known = try KnownRecord.fetch(database, name: record.name), let key = known.key
        else { return }
        var entry = try OutboxEntry.fetch(database, key)
        try applier.acknowledge(&known, &entry)
        known.tag = record.tag
        known.system = record.system
        known.session = KnownRecord.savedHere
        known.problem = nil
        try known.save(database)
        if let modified = record.modified { latest = max(latest ?? modified, modified) }
    }

    /// Learns the server's time from what it accepted.
    func adjustClock() throws {
        if let latest { try StoreClock.adjust(database, server: latest) }
    }

    /// Takes in that a record is gone.
    mutating func acceptDeletion(_ name: String, _ entry: OutboxEntry?) throws {
        try KnownRecord.fetch(database, name: name)?.delete(database)
        try entry?.clear(database)
        if mapping.defect == .forgetsReinsertions, let key = entry?.key {
            try OutboxEntry.fetch(database, key)?.clear(database)
        }
    }

    /// Takes in why a record was refused.
    mutating func refuse(
        _ name: String,
        _ error: CKError,
        _ entry: OutboxEntry?,
        batchCount: Int
    ) throws {
        if Self.isUnanswered(error) {
            if mapping.defect == .dropsUnanswered { try entry?.clear(database) }
            return
        }
        guard var known = try KnownRecord.fetch(database, name: name) else { return }
        if error.code == .serverRecordChanged {
            // The server's record tells whether it is our own save, whose answer was lost.
            guard let server = error.serverRecord else { return }
            if mapping.defect == .dropsConflicts { try entry?.clear(database) }
            return try applier.apply([RemoteRecord(server, mapping)])
        }
        known.sent = nil
        known.sentVersion = nil
        known.sentEntry = nil
        try known.save(database)
        switch error.code {
        case .unknownItem: try applier.delete([name])
        case .referenceViolation where mapping.defect == .deletesRefusedChildren:
            if let key = known.key, let table = mapping.catalog[key.table] {
                try RowStore(database: database, mapping: mapping).delete(key, table)
                try entry?.clear(database)
            }
        case .zoneNotFound: answer.needsZone = true
        case .userDeletedZone:
            answer.needsZone = true
            answer.userDeletedZone = true
        case .batchRequestFailed: break
        case .quotaExceeded: answer.isOverQuota = true
        case .limitExceeded where batchCount > 1: answer.wasTooLarge = true
        default:
            guard let entry else { return }
            let problem =
                "The server refused the record '\(name)': \(error.localizedDescription)"
            answer.setAside.append(problem)
            try OutboxEntry.setAside(database, entry.key, version: entry.version, problem)
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
