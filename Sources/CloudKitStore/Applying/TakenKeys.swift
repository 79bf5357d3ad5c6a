import CloudKit
import GRDB

/// The keys that users gave to different rows: one of their records has the key here, the others wait.
///
/// All devices of a user decide alike, whatever arrives first: the user's own row has the key, and of
/// two other users' that can show the one whose zone is the first by name. Whether one can show depends
/// on rows of its own zone, and of those before it.
struct TakenKeys: ApplyPhase {
    let context: ApplyContext

    /// Returns the zone of another record that has a record's key; nil when there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - known: The file's state of the record with that name, in whatever zone.
    ///   - table: The table.
    /// - Returns: The zone.
    /// - Throws: An error of the database.
    func holder(
        of key: RowKey,
        _ known: KnownRecord?,
        _ table: TableSchema
    ) throws -> StoreZone? {
        // Only the rows of another zone can have the same key.
        guard context.hasPlaces || zone != .own, !table.isPublic else { return nil }
        // The record of that name decides; without one, a row or an unsent deletion in another
        // zone.
        if let known, known.system != nil { return known.zone == zone ? nil : known.zone }
        let holder = try Place.fetch(database, key)?.zone ?? .own
        guard holder != zone else { return nil }
        let isHeld = try rows.row(key, table) != nil || OutboxEntry.fetch(database, key) != nil
        return isHeld ? holder : nil
    }

    /// Returns whether a record gets its key from the one that has it.
    ///
    /// A deletion that waits to be sent keeps the key until then: it is of the other record. Where another client
    /// determines the format, both records are of one object.
    func takes(
        _ key: RowKey,
        _ remote: RemoteRecord,
        _ known: KnownRecord?,
        _ table: TableSchema,
        from holder: StoreZone
    ) throws -> Bool {
        if table.format != nil { return MovedObjects(context: context).takes(known, from: holder) }
        if try OutboxEntry.fetch(database, key)?.isDeleted == true { return false }
        guard zone.isShared, holder.isShared else { return zone < holder }
        let isFree = try isHidden(key, remote.name, table, in: holder)
        if zone < holder, isFree { return true }
        // The rows above it may arrive later and be quarantined: the row that shows would lose its
        // edits for nothing.
        guard isFree || context.decidesKeys else { return false }
        return try (zone < holder || isFree) && canShow(remote, key, table)
    }

    /// Returns whether the record that has a key waits for another record.
    private func isHidden(
        _ key: RowKey,
        _ name: String,
        _ table: TableSchema,
        in holder: StoreZone
    ) throws -> Bool {
        guard let known = try KnownRecord.fetch(database, name: name), known.zone == holder,
            known.waiting != nil
        else { return false }
        return try rows.row(key, table) == nil
    }

    /// Returns whether another user's record can show, with what is here of its zone.
    private func canShow(
        _ remote: RemoteRecord,
        _ key: RowKey,
        _ table: TableSchema
    ) throws -> Bool {
        // A record that cannot be read does not show.
        guard let fields = try? remote.fields.get(),
            try PlaceKeeper(context: context).missingShare(of: remote) == nil
        else { return false }
        let candidate = Candidate(
            known: KnownRecord(name: remote.name, key: key, type: remote.type, zone: zone),
            table: table,
            key: key,
            existing: nil,
            fields: fields
        )
        let missing = try MissingParents(context: context).all(of: candidate)
            .filter { $0.name != remote.name }
        return try !missing.contains { table.requires($0.foreignKey) }
            && name(above: candidate, lacking: missing, isTop: remote.share != nil) == nil
    }

    /// Takes the row away that has a record's key, with all rows below it; its record waits.
    func free(_ key: RowKey, from holder: StoreZone) throws {
        guard let table = catalog[key.table] else { return }
        let name = try key.recordName(table)
        let known = try KnownRecord.fetch(database, name: name)
        let theirs = try ApplyContext(database, mapping, zone: holder, defersUniqueness: true)
        let withdrawer = RowWithdrawer(context: theirs)
        if var known, known.zone == holder, known.system != nil {
            try withdrawer.hideWithAllBelow(known.key ?? key, named: name)
            try known.delete(database)
            try Place.drop(database, known.key ?? key)
            // Without a key and under a name of its own, the record is found by `quarantined(_:)`
            // alone.
            known.name = KnownRecord.name(name, asideIn: holder)
            known.key = nil
            // The acceptance of the save is fetched with the record's new version.
            known.sent = nil
            known.waiting = nil
            known.problem = try problem(of: known, table, holder: zone)
            try known.save(database)
        } else {
            // It was never sent, so no record can wait: its edits are in the journal.
            try withdrawer.letGoWithAllBelow(key)
        }
        // The arriving record replaces the version that waited for the key.
        try KnownRecord.fetch(database, name: KnownRecord.name(name, asideIn: zone))?
            .delete(database)
        context.add(theirs)
        context.hasFreedKeys = true
    }

    /// Quarantines a record under a separate name, until it has its key.
    func quarantine(_ remote: RemoteRecord, _ table: TableSchema, holder: StoreZone) throws {
        var known = KnownRecord(
            name: KnownRecord.name(remote.name, asideIn: zone),
            key: nil,
            type: remote.type,
            zone: zone
        )
        known.tag = remote.tag
        known.system = remote.system
        known.session = context.session
        known.problem = try problem(of: known, table, holder: holder)
        // A record that cannot be read has no base either.
        if let fields = try? remote.fields.get() {
            known.base = KnownFields(table.format?.kept(fields) ?? fields)
        }
        try known.save(database)
    }

    /// Keeps a quarantined record, with the zone that has its key now.
    func keep(_ known: KnownRecord, _ table: TableSchema, holder: StoreZone) throws {
        var kept = known
        kept.problem = try problem(of: known, table, holder: holder)
        if kept.problem != known.problem { try kept.save(database) }
    }

    /// Returns whose record waits for its key, and the remedy.
    private func problem(
        of known: KnownRecord,
        _ table: TableSchema,
        holder: StoreZone
    ) throws -> String {
        if table.format != nil {
            return MovedObjects.problem(known.recordName, in: known.zone, besides: holder)
        }
        let key = "its key in the table '\(table.name)'"
        switch (known.zone, holder) {
        case (.shared(let owner, _), .shared(let other, _)):
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: a row that "
                + "the user '\(other)' shares has \(key); ask one of the two for another key, or "
                + "leave what one shares: \(try leaving(known.zone, owner)), or \(try leaving(holder, other))"
        case (.shared(let owner, _), _):
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: a row of "
                + "your own has \(key); give your own row another key, or delete it"
                + (known.archived()?.share != nil
                    ? ", or leave(_:in:) the share"
                    : try JoinedZone.isShared(known.zone, database)
                        ? ", or \(try leaving(known.zone, owner))" : "")
        default:
            return
                "Your own record '\(known.recordName)' waits: the deletion of another user's row "
                + "that had \(key) is not sent; sync"
        }
    }

    /// Returns the call that leaves what a user shares: the zone as a whole, or a tree in it.
    private func leaving(_ zone: StoreZone, _ owner: String) throws -> String {
        try JoinedZone.isShared(zone, database)
            ? "leaveEverything(of: \"\(owner)\")"
            : "leave(_:in:) for the top of the tree of '\(owner)'"
    }

    /// Returns the quarantined record above a row, with which the row waits.
    ///
    /// The top of a share is not in the tree of the row above it, whatever became of that one: it shows
    /// without the reference.
    ///
    /// - Parameters:
    ///   - candidate: The row.
    ///   - missing: The rows that it refers to and that are not here.
    ///   - isTop: Whether it is the top of a share.
    /// - Returns: The record's name on the server; nil when there is none.
    /// - Throws: An error of the database.
    func name(
        above candidate: Candidate,
        lacking missing: [(foreignKey: ForeignKey, name: String)],
        isTop: Bool
    ) throws -> String? {
        let zone = candidate.known.zone
        guard !isTop, context.hasPlaces, let column = candidate.table.parentColumn else {
            return nil
        }
        var current = missing.first { $0.foreignKey.columns == [column.name] }?.name
        var seen: Set<String> = []
        // The rows between wait as well, each for the one above it.
        while let name = current, seen.insert(name).inserted {
            let aside = KnownRecord.name(name, asideIn: zone)
            if try KnownRecord.fetch(database, name: aside) != nil { return name }
            let known = try KnownRecord.fetch(database, name: name)
            current = known?.zone == zone ? known?.waiting : nil
        }
        return nil
    }

    /// Returns the quarantined records.
    static func quarantined(_ database: Database) throws -> [KnownRecord] {
        // The problem has an index. A record's own name has no line break, but the bytes of a UUID in
        // its stored form may contain one.
        try KnownRecord.fetchAll(database, where: "problem IS NOT NULL AND tbl IS NULL")
            .filter { $0.name.utf8.contains(UInt8(ascii: "\n")) }
    }
}
