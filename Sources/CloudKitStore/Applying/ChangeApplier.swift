import GRDB

/// The way of the server's changes into rows, the outbox and the journal, within one transaction.
///
/// A record with local edits goes through the planner. A row whose parent is missing waits for it,
/// and a record that cannot become a row is quarantined with its reason: neither stops the rest.
///
/// Records become candidates (``RecordDecider``), and candidates become rows (``RowPlacer``); deletions take
/// rows away (``RowDeleter``), and rows of other users leave this user's sight (``RowWithdrawer``).
struct ChangeApplier: ApplyPhase {
    let context: ApplyContext

    init(
        _ database: Database,
        _ mapping: RowMapping,
        zone: StoreZone = .own,
        defersUniqueness: Bool = false
    ) throws {
        context = try ApplyContext(
            database,
            mapping,
            zone: zone,
            defersUniqueness: defersUniqueness
        )
    }

    /// The resulting changes, in order.
    var changes: [RowChange] { context.changes }
    /// `true` when an unchanged record arrived again, which only happens in a fetch from the beginning.
    var sawKnownRecord: Bool { context.sawKnownRecord }
    /// The rows with changes that are in the journal because the user may not make them.
    var editsRefused: [RowKey] { context.editsRefused }
    /// The rows that lost to others with the same UNIQUE values.
    var replacedByDuplicate: [RowKey] { context.replacedByDuplicate }

    private var decider: RecordDecider { RecordDecider(context: context) }
    private var placer: RowPlacer { RowPlacer(context: context) }
    private var deleter: RowDeleter { RowDeleter(context: context) }
    private var places: PlaceKeeper { PlaceKeeper(context: context) }
    var withdrawer: RowWithdrawer { RowWithdrawer(context: context) }
    var goneReferences: GoneReferences { GoneReferences(context: context) }
    var settlement: OutboxSettlement { OutboxSettlement(context: context) }
    var reverter: EditReverter { EditReverter(context: context) }

    /// `true` when deletions wait until all zones are fetched.
    var postponesDeletions: Bool { MovedObjects(context: context).mayMove }

    /// Applies saved records.
    func apply(_ records: [RemoteRecord]) throws {
        // Tops return once their records are in the file; trees are settled over all rows that were
        // written.
        try placer.place(decider.decide(records))
        try reverter.bringBackTops()
        try places.settleTrees()
    }

    /// Applies the permissions of shares that have arrived, and shows the rows that waited for them.
    func follow(_ shares: [String]) throws {
        try places.follow(shares)
        let waiting = try shares.flatMap { share in
            try KnownRecord.fetchAll(
                database,
                where: "waiting = ? AND zone = ?",
                arguments: [share, zone]
            )
        }
        try placer.place(waiting.map(\.name).compactMap(candidate))
        try places.settleTrees()
    }

    /// Applies deletions of records, children before parents.
    func delete(_ names: [String]) throws {
        try deleter.delete(names)
        try places.settleTrees()
    }

    /// Reverts deletions of the tops of another user's shares, with all rows below them.
    func bringBack(_ tops: [RowKey]) throws {
        context.deletedTops += tops
        try reverter.bringBackTops()
        try places.settleTrees()
    }

    // MARK: At the end of a fetch

    /// Retries waiting and quarantined records, after everything has arrived.
    ///
    /// A row whose parent did not arrive keeps waiting, unless its columns may be NULL: then it
    /// shows without the reference until the parent arrives.
    func retryHidden() throws {
        // From what frees most to what gives up: a record that gets its key may be the parent of
        // others, a reference to a deleted record is never fulfilled, and what still waits shows
        // without its references.
        try retryTakenKeys()
        try goneReferences.resolve()
        try placer.retryHidden()
        // What shows now decides which of two other users' rows has a key.
        for _ in 0..<Self.roundLimit {
            try showWaiting()
            guard try retryTakenKeys() else { return }
        }
    }

    /// The maximum number of rounds in which rows that show bring others their keys.
    private static let roundLimit = 100

    /// Writes the rows of some records that were quarantined, if they can be written now.
    func retryQuarantined(_ names: [String]) throws {
        let any = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_record WHERE problem IS NOT NULL)"
        )
        guard try Bool.fetchOne(any) ?? true else { return }
        let quarantined = try KnownRecord.fetch(database, names: names).values
            .filter { $0.problem != nil && $0.zone == zone && $0.key != nil }
        try placer.place(quarantined.map(\.name).sorted().compactMap(candidate))
        try places.settleTrees()
    }

    /// Inserts the rows of records that were quarantined because of their key, if they have it now.
    ///
    /// - Returns: Whether there are any.
    /// - Throws: An error of the database.
    @discardableResult
    func retryTakenKeys() throws -> Bool {
        var hasTaken = false
        for known in try TakenKeys.quarantined(database) {
            let remote = try RemoteRecord(kept: known, mapping)
            guard let table = remote.table, let key = remote.key else { continue }
            // Each record is applied in its own zone, which has permissions and places of its own.
            let applier = try ChangeApplier(database, mapping, zone: known.zone)
            applier.context.decidesKeys = true
            let keys = TakenKeys(context: applier.context)
            let other = try KnownRecord.fetch(database, name: known.recordName)
            if let holder = try keys.holder(of: key, other, table),
                try !keys.takes(key, remote, other, table, from: holder)
            {
                try keys.keep(known, table, holder: holder)
                continue
            }
            try known.delete(database)
            // It may have arrived once more since.
            if other?.system != nil, other?.zone == known.zone { continue }
            try applier.apply([remote])
            context.add(applier.context)
            hasTaken = true
        }
        return hasTaken
    }

    /// Deletes rows whose deletion waited for references to end, or for the object in another zone.
    func finishDeletions() throws {
        try deleter.finish()
    }

    /// Removes all rows of the zone from the file: this user no longer has access to them.
    func leaveZone() throws {
        try withdrawer.leaveZone()
        // The zone's rows may have had keys and UNIQUE values for which records of other zones wait, and no
        // fetch of those has a reason to follow.
        try retryHidden()
    }

    /// Shows the waiting rows, without their references to missing rows.
    func showWaiting() throws {
        try placer.showWaiting()
        try places.settleTrees()
    }
}
