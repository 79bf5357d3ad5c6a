import CloudKitWire

/// The removal of values from records of one zone, in one commit: values of fields that the schema
/// loses, or never had.
///
/// For every client a record without such a value is another version of it: it gets the next number
/// of its zone, and so a new change tag and a place in the change feed. Nobody saved it, so that its
/// last modification stays as it is, and nobody is notified, as after a reset.
struct ValueRemoval {
    private let writer: any StorageWriter
    private let database: StoredDatabase
    private let home: ReferenceHome
    private let schema: Schema
    private var zone: StoredZone
    private var keys: [String: IndexKeys] = [:]
    /// The number of the zone's newest change before the removal.
    private let start: Int64

    /// Prepares the removal; returns nil if the zone was deleted.
    ///
    /// - Parameters:
    ///   - id: The zone.
    ///   - schema: The schema whose indexes the environment has.
    ///   - writer: The commit.
    /// - Throws: `StorageError`.
    init?(in id: RowID<StoredZone>, _ schema: Schema, _ writer: any StorageWriter) throws {
        guard let zone = try writer.zone(id), !zone.isDeleted,
            let database = try writer.database(zone.database)
        else { return nil }
        self.writer = writer
        self.database = database
        self.schema = schema
        self.zone = zone
        home = try ReferenceHome(zone, writer)
        start = zone.headSequence
    }

    /// Removes the values of some fields of a record, with all that derives from them.
    ///
    /// Nothing of a damaged record can be kept, so it stays as it is until somebody replaces it.
    mutating func remove(_ names: Set<String>, from record: StoredRecord) throws {
        guard !record.isDeleted, !record.isDamaged else { return }
        let before = try RecordFields(stored: record.fields)
        let fields = before.without(names)
        guard fields.fields.count < before.fields.count else { return }
        zone.headSequence += 1
        zone.bytes = max(zone.bytes + fields.storedBytes - before.storedBytes, 0)
        var row = record
        row.sequence = zone.headSequence
        row.fields = fields.stored
        row.hasAssets = fields.hasAssets
        try writer.updateRecord(row)
        let keys = indexKeys(of: row.type)
        try writer.replaceEntries(
            keys.entries(of: record, before, home),
            with: keys.entries(of: row, fields, home),
            in: zone.id
        )
        if record.hasAssets {
            try writer.setAssets(
                fields.assets.compactMap(\.checksumData),
                of: row.id,
                in: zone.id
            )
        }
        let links = References(fields: fields, parent: row.parent)
        guard links != References(fields: before, parent: row.parent) else { return }
        try writer.removeReferences(from: row.id, in: zone.id)
        for link in links.stored(from: row, in: database) {
            try writer.addReference(link, in: zone.id)
        }
    }

    /// Writes the new numbers and bytes of the zone; a removal that found nothing is no change of it.
    func finish() throws {
        guard zone.headSequence > start else { return }
        var row = zone
        // Default zones have no change feed.
        if zone.name != WireZoneID.defaultZoneName {
            row.changeSequence = database.headSequence + 1
            try writer.setHeadSequence(database.id, row.changeSequence)
        }
        try writer.updateZone(row)
    }

    private mutating func indexKeys(of type: String) -> IndexKeys {
        if let keys = keys[type] { return keys }
        let keys = IndexKeys(schema.types[type] ?? RecordTypeSchema(number: 0))
        self.keys[type] = keys
        return keys
    }
}

extension RecordFields {
    /// Returns the fields without those of some names.
    func without(_ names: Set<String>) -> RecordFields {
        RecordFields(fields.filter { !names.contains($0.key) })
    }
}

extension StorageWriter {
    /// Changes the index entries of a record from its former ones to others.
    func replaceEntries(
        _ old: [IndexEntry],
        with new: [IndexEntry],
        in zone: RowID<StoredZone>
    ) throws {
        let (before, after) = (Set(old), Set(new))
        for entry in old where !after.contains(entry) { try removeEntry(entry, in: zone) }
        try addEntries(new.filter { !before.contains($0) }, in: zone)
    }
}
