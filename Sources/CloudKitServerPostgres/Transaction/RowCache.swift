#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rows that a transaction has read or written, as it sees them now.
///
/// A value of nil inside stands for a row that is known to be absent. Writes keep the rows up to date, and
/// remove what they cannot.
struct RowCache {
    /// A record by its row.
    struct RecordRow: Hashable {
        var zone: RowID<StoredZone>
        var id: RowID<StoredRecord>
    }

    /// A record by its name.
    struct RecordName: Hashable {
        var zone: RowID<StoredZone>
        var name: ByteText

        init(zone: RowID<StoredZone>, name: String) {
            self.zone = zone
            self.name = ByteText(name)
        }
    }

    /// A zone by its name.
    struct ZoneName: Hashable {
        var database: RowID<StoredDatabase>
        var name: ByteText

        init(database: RowID<StoredDatabase>, name: String) {
            self.database = database
            self.name = ByteText(name)
        }
    }

    /// A document by its names.
    struct DocumentName: Hashable {
        var collection: ByteText
        var name: ByteText

        init(_ collection: String, _ name: String) {
            self.collection = ByteText(collection)
            self.name = ByteText(name)
        }

        init(_ key: DocumentKey) { self.init(key.collection, key.name) }
    }

    /// References of a circle to a record.
    struct ReferenceKey: Hashable {
        var zone: RowID<StoredZone>
        var target: ByteText
        var circle: ByteText

        init(zone: RowID<StoredZone>, key: StorageNeeds.ReferenceKey) {
            self.zone = zone
            target = ByteText(key.target)
            circle = ByteText(key.circle)
        }
    }

    /// A page of a feed.
    struct Feed: Hashable {
        var zone: RowID<StoredZone>
        var page: StorageNeeds.Feed
    }

    var settings: [String: Data?] = [:]
    /// The oldest item of each queue.
    var oldestPushes: [Data: StoredPush?] = [:]
    var environments: [RowID<StoredEnvironment>: StoredEnvironment?] = [:]
    var schemas: [RowID<StoredEnvironment>: Data?] = [:]
    var users: [RowID<StoredUser>: StoredUser?] = [:]
    var databases: [DatabaseKey: StoredDatabase?] = [:]
    var databaseRows: [RowID<StoredDatabase>: StoredDatabase?] = [:]
    var zones: [ZoneName: StoredZone?] = [:]
    var zoneRows: [RowID<StoredZone>: StoredZone?] = [:]
    var zoneLists: [RowID<StoredDatabase>: [StoredZone]] = [:]
    var records: [RecordName: StoredRecord?] = [:]
    var recordRows: [RecordRow: StoredRecord?] = [:]
    var heads: [RecordRow: StoredRecordHead?] = [:]
    var feeds: [Feed: [StoredRecord]] = [:]
    var shares: [RowID<StoredZone>: [String]] = [:]
    var references: [ReferenceKey: [StoredReference]] = [:]
    /// References except those of parents.
    var owningReferences: [ReferenceKey: [StoredReference]] = [:]
    var scans: [IndexScan: [IndexEntry]] = [:]
    var counts: [IndexScan: Int] = [:]
    var collections: [ByteText: [StoredDocument]] = [:]
    var documents: [DocumentName: Data?] = [:]

    // MARK: Rows that were read

    mutating func store(_ database: StoredDatabase) {
        let key = DatabaseKey(environment: database.environment, owner: database.owner)
        databases[key] = .some(database)
        databaseRows[database.id] = .some(database)
    }

    mutating func store(_ zone: StoredZone) {
        zones[ZoneName(database: zone.database, name: zone.name)] = .some(zone)
        zoneRows[zone.id] = .some(zone)
    }

    mutating func store(_ record: StoredRecord) {
        records[RecordName(zone: record.zone, name: record.name)] = .some(record)
        recordRows[RecordRow(zone: record.zone, id: record.id)] = .some(record)
    }

    /// Returns a document, if it is known whether it is there.
    func document(_ key: DocumentName) -> Data?? {
        if let known = documents[key] { return known }
        guard let collection = collections[key.collection] else { return nil }
        return .some(collection.first { ByteText($0.name) == key.name }?.body)
    }

    // MARK: Rows that were written

    mutating func put(_ key: DocumentName, _ body: Data?) {
        documents[key] = .some(body)
        guard var collection = collections[key.collection] else { return }
        collection.removeAll { ByteText($0.name) == key.name }
        if let body {
            let place = collection.firstIndex { key.name.text.precedesByBytes($0.name) }
            collection.insert(
                StoredDocument(name: key.name.text, body: body),
                at: place ?? collection.endIndex
            )
        }
        collections[key.collection] = collection
    }

    /// Stores a zone that was added or changed.
    mutating func put(_ zone: StoredZone) {
        store(zone)
        zoneLists[zone.database] = nil
    }

    /// Stores a record that was added or changed.
    mutating func put(_ record: StoredRecord) {
        let row = RecordRow(zone: record.zone, id: record.id)
        let former = recordRows[row] ?? nil
        if former?.share != nil || record.share != nil { shares[record.zone] = nil }
        recordsChanged(in: record.zone, row)
        store(record)
    }

    mutating func remove(_ row: RecordRow) {
        if let former = recordRows[row] ?? nil {
            records[RecordName(zone: row.zone, name: former.name)] = .some(nil)
        } else {
            // Which of the names was its own is not known.
            records = records.filter { $0.key.zone != row.zone }
        }
        recordsChanged(in: row.zone, row)
        recordRows[row] = .some(nil)
        shares[row.zone] = nil
    }

    private mutating func recordsChanged(in zone: RowID<StoredZone>, _ row: RecordRow) {
        heads[row] = nil
        if !feeds.isEmpty { feeds = feeds.filter { $0.key.zone != zone } }
    }

    /// Forgets what an index has in a zone.
    mutating func entriesChanged(in zone: RowID<StoredZone>) {
        if !scans.isEmpty { scans = scans.filter { $0.key.zone != zone } }
        if !counts.isEmpty { counts = counts.filter { $0.key.zone != zone } }
    }

    mutating func add(_ reference: StoredReference, in zone: RowID<StoredZone>) {
        let key = ReferenceKey(
            zone: zone,
            key: StorageNeeds.ReferenceKey(to: reference.target, in: reference.circle)
        )
        Self.add(reference, to: &references[key])
        if reference.kind != .parent { Self.add(reference, to: &owningReferences[key]) }
    }

    private static func add(_ reference: StoredReference, to list: inout [StoredReference]?) {
        guard var known = list, !known.contains(reference) else { return }
        let place = known.firstIndex { reference.precedes($0) }
        known.insert(reference, at: place ?? known.endIndex)
        list = known
    }

    mutating func removeReferences(
        from source: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) {
        for (key, list) in references
        where key.zone == zone && list.contains(where: { $0.source == source }) {
            references[key]?.removeAll { $0.source == source }
        }
        for (key, list) in owningReferences
        where key.zone == zone && list.contains(where: { $0.source == source }) {
            owningReferences[key]?.removeAll { $0.source == source }
        }
    }
}

extension StoredReference {
    /// Returns whether the reference comes before another one to the same record.
    fileprivate func precedes(_ other: Self) -> Bool {
        (source, kind.rawValue) < (other.source, other.kind.rawValue)
    }
}

extension String {
    /// Returns whether the text sorts before another one by its bytes, as the tables do.
    func precedesByBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}
#endif
