import GRDB

/// Objects that another client moves between zones under their own names: the row stays, and follows its record.
///
/// Core Data creates the record in the other zone and deletes the first one; either may arrive first, and the
/// record may be in both zones meanwhile. The record in a zone that is shared then has the row, and the other is
/// kept aside.
struct MovedObjects: ApplyPhase {
    let context: ApplyContext

    /// `true` when a deleted record may be in another zone, which is not fetched yet.
    var mayMove: Bool { catalog.hasFormats && !zone.isShared && zone != .public }

    /// Has the row of a deleted record wait until all zones are fetched.
    func postpone(_ record: KnownRecord) throws {
        guard record.key != nil else { return try record.delete(database) }
        var known = record
        known.goes = true
        known.sent = nil
        try known.save(database)
    }

    /// Returns whether an arrived record has the row of a record in another zone from now on.
    func takes(_ known: KnownRecord?, from holder: StoreZone) -> Bool {
        guard let known, known.system != nil, !known.goes else { return true }
        switch (zone, holder) {
        case (.own, _): return false
        case (_, .own): return true
        // All devices decide alike, whatever arrives first.
        default: return zone < holder
        }
    }

    /// Keeps the record aside that had a row, unless it was deleted.
    ///
    /// The arrived one is then merged with the row's edits.
    func take(
        _ remote: RemoteRecord,
        from known: KnownRecord?,
        _ key: RowKey,
        _ table: TableSchema
    ) throws {
        let name = try key.recordName(table)
        try KnownRecord.fetch(database, name: KnownRecord.name(name, asideIn: zone))?
            .delete(database)
        guard let known, known.system != nil, !known.goes else { return }
        let shown = try rows.row(key, table).map { try mapping.fields($0, table) } ?? [:]
        // Values that no longer are in the row may be those of the arrived record, if it can be read.
        let arrived = (try? remote.fields.get()) ?? [:]
        var aside = KnownRecord(
            name: KnownRecord.name(name, asideIn: known.zone),
            key: nil,
            type: known.type,
            zone: known.zone
        )
        aside.tag = known.tag
        aside.system = known.system
        aside.session = known.session
        let base = try known.baseFields(like: shown, arrived)
        aside.base = KnownFields(table.format?.kept(base) ?? base)
        aside.problem = Self.problem(name, in: known.zone, besides: zone)
        try aside.save(database)
    }

    /// Assigns the row of a record that is deleted to the one that is kept aside in another zone.
    ///
    /// - Returns: Whether there is one.
    func giveAway(_ record: KnownRecord) throws -> Bool {
        guard catalog.hasFormats, context.hasPlaces, record.key != nil,
            let other = try TakenKeys.quarantined(database)
                .first(where: { $0.recordName == record.recordName && $0.zone != zone })
        else { return false }
        var known = record
        known.forgetServer()
        try known.save(database)
        try other.delete(database)
        let applier = try ChangeApplier(database, mapping, zone: other.zone)
        let remote = try RemoteRecord(kept: other, mapping)
        try applier.apply([remote])
        if !remote.isReadable { try record.fetchAgain(database) }
        context.add(applier.context)
        return true
    }

    /// Assigns all rows of a zone that is gone to the records that are kept aside in others.
    func giveAwayAll() throws {
        guard catalog.hasFormats else { return }
        for other in try TakenKeys.quarantined(database) where other.zone != zone {
            let known = try KnownRecord.fetch(database, name: other.recordName)
            if let known, known.zone == zone { _ = try giveAway(known) }
        }
    }

    /// Has the rows of other zones that refer to some rows wait for these, before they leave with their zone.
    func release(_ keys: [RowKey]) throws {
        guard catalog.hasFormats else { return }
        for key in keys {
            guard let table = catalog[key.table], let row = try rows.row(key, table) else {
                continue
            }
            try release(key, table, row)
        }
    }

    /// Has the rows of other zones that refer to a row wait for it, before it is deleted in this one: it moves, or
    /// they do.
    func release(_ key: RowKey, _ table: TableSchema, _ row: StoredRow) throws {
        guard catalog.hasFormats, context.hasPlaces else { return }
        let name = try key.recordName(table)
        for (childName, foreignKey) in catalog.foreignKeys(to: table.name) {
            guard let child = catalog[childName] else { continue }
            for childRow in try rows.rows(referring: foreignKey, child, row) {
                guard let childKey = RowStore.key(childRow, child), childKey != key else {
                    continue
                }
                let other = try Place.fetch(database, childKey)?.zone ?? .own
                guard other != zone else { continue }
                let theirs = try ApplyContext(
                    database,
                    mapping,
                    zone: other,
                    defersUniqueness: true
                )
                try RowWithdrawer(context: theirs)
                    .clear(foreignKey, of: childKey, child, childRow, waitingFor: name)
                context.add(theirs)
            }
        }
    }

    /// Returns why a record does not show that another has the row of, and the remedy.
    static func problem(_ name: String, in zone: StoreZone, besides holder: StoreZone) -> String {
        "The record '\(name)' is in the zone \(words(zone)) and in the zone \(words(holder)), which has its row: "
            + "the app moves it from one to the other; if that lasts, open the app until it has synced"
    }

    private static func words(_ zone: StoreZone) -> String {
        switch zone {
        case .own: "of the app"
        case .public: "of everyone"
        case .owned(let name): "'\(name)'"
        case .shared(let owner, let name): "'\(name)' of the user '\(owner)'"
        }
    }
}
