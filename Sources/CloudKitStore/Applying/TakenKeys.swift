import CloudKit
import GRDB

/// The keys that users gave to different rows: one of their records has the key here, the others wait.
///
/// All devices of a user decide alike, whatever arrives first: the user's own row has the key, and of
/// two other users' the one whose zone is the first by name.
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
        guard context.hasPlaces || zone != .own, !table.isPublic else { return nil }
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
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - known: The file's state of the record that has it.
    ///   - holder: The zone of that record.
    ///   - table: The table.
    /// - Returns: Whether it does.
    /// - Throws: An error of the database.
    func takes(
        _ key: RowKey,
        of known: KnownRecord?,
        from holder: StoreZone,
        _ table: TableSchema
    ) throws -> Bool {
        if table.format != nil { return MovedObjects(context: context).takes(known, from: holder) }
        return try zone < holder && OutboxEntry.fetch(database, key)?.isDeleted != true
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
            known.name = KnownRecord.name(name, asideIn: holder)
            known.key = nil
            known.sent = nil
            known.waiting = nil
            known.problem = problem(of: known, table, holder: zone)
            try known.save(database)
        } else {
            try withdrawer.letGoWithAllBelow(key)
        }
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
        known.problem = problem(of: known, table, holder: holder)
        // A record that cannot be read has no base either.
        if let fields = try? remote.fields.get() {
            known.base = KnownFields(table.format?.kept(fields) ?? fields)
        }
        try known.save(database)
    }

    /// Keeps a quarantined record, with the zone that has its key now.
    func keep(_ known: KnownRecord, _ table: TableSchema, holder: StoreZone) throws {
        var kept = known
        kept.problem = problem(of: known, table, holder: holder)
        if kept.problem != known.problem { try kept.save(database) }
    }

    /// Returns whose record waits for its key, and the remedy.
    private func problem(
        of known: KnownRecord,
        _ table: TableSchema,
        holder: StoreZone
    ) -> String {
        if table.format != nil {
            return MovedObjects.problem(known.recordName, in: known.zone, besides: holder)
        }
        let key = "its key in the table '\(table.name)'"
        switch (known.zone, holder) {
        case (.shared(let owner, _), .shared(let other, _)):
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: a row that "
                + "the user '\(other)' shares has \(key); ask one of the two for another key, or "
                + "leave(_:in:) the share of one"
        case (.shared(let owner, _), _):
            return
                "The record '\(known.recordName)' that the user '\(owner)' shares waits: a row of "
                + "your own has \(key); give your own row another key, or delete it"
                + (known.archived()?.share == nil ? "" : ", or leave(_:in:) the share")
        default:
            return
                "Your own record '\(known.recordName)' waits: the deletion of another user's row "
                + "that had \(key) is not sent; sync"
        }
    }

    /// Returns the quarantined record above a row, with which the row waits.
    ///
    /// - Parameters:
    ///   - candidate: The row.
    ///   - missing: The rows that it refers to and that are not here.
    /// - Returns: The record's name on the server; nil when there is none.
    /// - Throws: An error of the database.
    func name(
        above candidate: Candidate,
        lacking missing: [(foreignKey: ForeignKey, name: String)]
    ) throws -> String? {
        let zone = candidate.known.zone
        guard context.hasPlaces, let column = candidate.table.parentColumn else { return nil }
        var current = missing.first { $0.foreignKey.columns == [column.name] }?.name
        var seen: Set<String> = []
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
        try KnownRecord.fetchAll(
            database,
            where: "problem IS NOT NULL AND tbl IS NULL AND typeof(name) = 'text' AND "
                + "instr(name, char(10)) > 0"
        )
    }
}
