import GRDB

/// The records of which the row's key belongs to another user's row, or the other way round.
struct TakenKeys: ApplyPhase {
    let context: ApplyContext

    /// Returns whether a record's row already belongs to another record: two users gave the same
    /// key to different rows.
    func isTaken(
        _ key: RowKey,
        by known: KnownRecord?,
        _ table: TableSchema
    ) throws -> Bool {
        guard context.hasPlaces || zone != .own, !table.isPublic else { return false }
        if let known, known.system != nil { return known.zone != zone }
        let place = try Place.fetch(database, key)
        guard place?.zone ?? .own != zone else { return false }
        return try rows.row(key, table) != nil || OutboxEntry.fetch(database, key) != nil
    }

    /// Quarantines a record under a separate name, until the row that has its key is deleted.
    func quarantine(_ remote: RemoteRecord, _ table: TableSchema) throws {
        var known = KnownRecord(
            name: KnownRecord.name(remote.name, asideIn: zone),
            key: nil,
            type: remote.type,
            zone: zone
        )
        known.tag = remote.tag
        known.system = remote.system
        known.session = context.session
        known.problem =
            "The record '\(remote.name)' of another user has the key of another row of the table '"
            + "\(table.name)'; delete that row, or give it another key"
            + (isOthers && remote.share != nil ? ", or leave(_:in:) the share" : "")
        // A record that cannot be read has no base either.
        if let fields = try? remote.fields.get() { known.base = KnownFields(fields) }
        try known.save(database)
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
