import Foundation
import GRDB

/// The values that the phases of applying changes share, within one transaction: the file, the zone, and what
/// has changed so far.
final class ApplyContext {
    let database: Database
    let mapping: RowMapping
    let rows: RowStore
    let journal: Journal
    let clock: StoreClock
    /// The zone of the records.
    let zone: StoreZone
    /// The current fetch, with which records are marked.
    let session: Int64
    /// `true` while rows with UNIQUE values of others wait for the end of the fetch.
    let defersUniqueness: Bool
    /// `true` when anything in the file is shared.
    var hasPlaces: Bool

    /// The resulting changes, in order.
    private(set) var changes: [RowChange] = []
    /// The records whose rows lost to others with the same UNIQUE values.
    var displaced: Set<String> = []
    /// The records whose rows gave way before they were written, with the rows that stay.
    var replaced: [(candidate: Candidate, winner: RowKey)] = []
    /// The number of temporary values that rows had while they exchanged UNIQUE ones.
    var temporaryValues: Int64 = 0
    /// These rows, to be reported to the app.
    var replacedByDuplicate: [RowKey] = []
    /// The rows that were written, moved here, or whose share was added or removed, since their
    /// trees were last settled.
    var written: [RowKey] = []
    var reshared: [RowKey] = []
    /// The records of another user whose places arrived since permissions were last derived.
    var located: [String: RowKey] = [:]
    /// The tops of another user's shares that arrived while their deletion waited to be sent.
    var deletedTops: [RowKey] = []
    /// The rows with changes that are in the journal because the user may not make them.
    private(set) var editsRefused: [RowKey] = []
    /// The rows that are leaving this user's sight.
    var leaving: Set<RowKey> = []
    /// `true` when rows were hidden because of UNIQUE values of others, so that what was read of a batch
    /// before may be out of date.
    var hasHidden = false
    /// `true` when rows gave up their keys, so that what was read of a batch before may be out of date.
    var hasFreedKeys = false
    /// `true` when everything has arrived on which it depends which of two other users' rows has a key.
    var decidesKeys = false
    /// `true` when an unchanged record arrived again, which only happens in a fetch from the beginning.
    var sawKnownRecord = false
    private var defersForeignKeys = false

    init(
        _ database: Database,
        _ mapping: RowMapping,
        zone: StoreZone,
        defersUniqueness: Bool
    ) throws {
        self.zone = zone
        self.defersUniqueness = defersUniqueness
        // Most files share nothing: one look here saves the search for a place of each record.
        hasPlaces = try Place.exist(database)
        self.database = database
        self.mapping = mapping
        rows = RowStore(database: database, mapping: mapping)
        clock = try StoreClock(database)
        journal = Journal(database, mapping.catalog, zone: zone)
        let statement = try database.cachedStatement(
            sql: "SELECT session FROM grdb_cloudkit_control"
        )
        session = try Int64.fetchOne(statement) ?? 0
    }

    /// Defers the check of foreign keys to the end of the transaction instead of each statement.
    ///
    /// SQLite then prepares every statement again, so this is called only before rows are written,
    /// and only if a table of the file refers to another.
    func deferForeignKeys() throws {
        guard !defersForeignKeys else { return }
        defersForeignKeys = true
        // The word may also stand in a comment or a name, which only costs the setting.
        let any = try database.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM sqlite_master
                    WHERE type = 'table' AND instr(upper(sql), 'REFERENCES'))
                """
        )
        if try Bool.fetchOne(any) ?? true {
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
        }
    }

    func note(_ kind: RowChange.Kind, _ key: RowKey) {
        changes.append(RowChange(kind, key))
    }

    /// Adds what happened to the rows of another zone.
    func add(_ other: ApplyContext) {
        changes += other.changes
        for key in other.editsRefused { refuseEdits(of: key) }
    }

    func refuseEdits(of key: RowKey) {
        // A row can lose edits in several phases; the app receives one event for it.
        if !editsRefused.contains(key) { editsRefused.append(key) }
    }

    /// Withdraws the report of an arrived row.
    func forget(_ key: RowKey) {
        changes.removeAll { $0 == RowChange(.inserted, key) }
    }
}

/// A phase of applying changes, which hands its results over to the next.
protocol ApplyPhase {
    var context: ApplyContext { get }
}

extension ApplyPhase {
    var database: Database { context.database }
    var mapping: RowMapping { context.mapping }
    var catalog: TableCatalog { context.mapping.catalog }
    var rows: RowStore { context.rows }
    var journal: Journal { context.journal }
    var clock: StoreClock { context.clock }
    var zone: StoreZone { context.zone }
    /// `true` when the records are another user's.
    var isOthers: Bool { context.zone.isShared }
}
