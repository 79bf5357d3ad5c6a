import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts the reads of a request, and ends it if there are too many.
protocol Metered: StorageReader {
    /// The reader of the data.
    var source: any StorageReader { get }
    var work: RequestWork { get }
}

/// A reader that counts the reads of a request.
struct MeteredReader: Metered {
    let source: any StorageReader
    let work: RequestWork
}

extension Metered {
    func prepare(_ needs: (_ reader: any StorageReader) throws -> StorageNeeds) throws {
        try source.prepare(needs)
    }

    func filledQueues(_ queues: Set<Data>) throws -> Set<Data> {
        try work.spend(queues.count)
        return try source.filledQueues(queues)
    }

    func setting(_ name: String) throws -> Data? {
        try work.spend(1)
        return try source.setting(name)
    }

    func environment(container: String, _ kind: ServiceEnvironment) throws -> StoredEnvironment? {
        try work.spend(1)
        return try source.environment(container: container, kind)
    }

    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment? {
        try work.spend(1)
        return try source.environment(id)
    }

    func environments() throws -> [StoredEnvironment] {
        let found = try source.environments()
        try work.spend(found.count)
        return found
    }

    func schema(_ id: RowID<StoredEnvironment>) throws -> Data? {
        try work.spend(1)
        return try source.schema(id)
    }

    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential? {
        try work.spend(1)
        return try source.credential(kind, hash: hash)
    }

    func credentials(_ environment: RowID<StoredEnvironment>) throws -> [StoredCredential] {
        let found = try source.credentials(environment)
        try work.spend(found.count)
        return found
    }

    func user(_ id: RowID<StoredUser>) throws -> StoredUser? {
        try work.spend(1)
        return try source.user(id)
    }

    func user(container: String, recordName: String) throws -> StoredUser? {
        try work.spend(1)
        return try source.user(container: container, recordName: recordName)
    }

    func users(container: String) throws -> [StoredUser] {
        let found = try source.users(container: container)
        try work.spend(found.count)
        return found
    }

    func document(_ collection: String, _ name: String) throws -> Data? {
        try work.spend(1)
        return try source.document(collection, name)
    }

    func documents(_ collection: String) throws -> [StoredDocument] {
        let found = try source.documents(collection)
        try work.spend(found.count)
        return found
    }

    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush] {
        let found = try source.pushes(queue, limit: limit)
        try work.spend(found.count)
        return found
    }

    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase? {
        try work.spend(1)
        return try source.database(environment, owner: owner)
    }

    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase? {
        try work.spend(1)
        return try source.database(id)
    }

    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase] {
        let found = try source.databases(environment)
        try work.spend(found.count)
        return found
    }

    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone? {
        try work.spend(1)
        return try source.zone(database, name: name)
    }

    func zone(_ id: RowID<StoredZone>) throws -> StoredZone? {
        try work.spend(1)
        return try source.zone(id)
    }

    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone] {
        let found = try source.zones(database)
        try work.spend(found.count)
        return found
    }

    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone] {
        let found = try source.zones(environment)
        try work.spend(found.count)
        return found
    }

    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone] {
        let found = try source.changedZones(database, after: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord? {
        try work.spend(1)
        return try source.record(zone, name: name)
    }

    func record(
        _ id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecord? {
        try work.spend(1)
        return try source.record(id, in: zone)
    }

    func head(
        of id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecordHead? {
        try work.spend(1)
        return try source.head(of: id, in: zone)
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        let found = try source.changedRecords(zone, after: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        let found = try source.changedRecords(zone, before: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func changeCount(_ zone: RowID<StoredZone>, after sequence: Int64) throws -> Int {
        let found = try source.changeCount(zone, after: sequence)
        try work.spend(found / 64)
        return found
    }

    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord] {
        let found = try source.tombstones(modifiedBefore: milliseconds, limit: limit)
        try work.spend(found.count)
        return found
    }

    func shares(_ zone: RowID<StoredZone>) throws -> [String] {
        let found = try source.shares(zone)
        try work.spend(found.count)
        return found
    }

    func children(
        _ zone: RowID<StoredZone>,
        of parent: String,
        limit: Int
    ) throws -> [StoredRecord] {
        let found = try source.children(zone, of: parent, limit: limit)
        try work.spend(found.count)
        return found
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        let found = try source.sightings(zone, of: viewer, after: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        let found = try source.sightings(zone, of: viewer, before: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func references(
        _ zone: RowID<StoredZone>,
        to target: String,
        in circle: String
    ) throws -> [StoredReference] {
        let found = try source.references(zone, to: target, in: circle)
        try work.spend(found.count)
        return found
    }

    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind,
        in circle: String
    ) throws -> Int {
        let found = try source.referenceCount(zone, to: target, kind, in: circle)
        try work.spend(found / 64)
        return found
    }

    func holdsAsset(_ checksum: Data) throws -> Bool {
        try work.spend(1)
        return try source.holdsAsset(checksum)
    }

    func entries(_ scan: IndexScan) throws -> [IndexEntry] {
        let found = try source.entries(scan)
        try work.spend(found.count)
        return found
    }

    func forEachRecord(
        in scan: IndexScan,
        _ body: (_ entry: IndexEntry, _ record: StoredRecord?) throws -> Bool
    ) throws {
        try source.forEachRecord(in: scan) { entry, record in
            try work.spend(2)
            return try body(entry, record)
        }
    }

    func entryCount(_ scan: IndexScan) throws -> Int {
        let found = try source.entryCount(scan)
        try work.spend(found / 64)
        return found
    }

    func snapshots(_ container: String) throws -> [StoredSnapshot] {
        try work.spend(1)
        return try source.snapshots(container)
    }

    func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        implicitZone: String,
        limit: Int
    ) throws -> [SnapshotDifference] {
        try work.spend(limit)
        return try source.snapshotDifferences(
            of: container,
            from: earlier,
            to: later,
            implicitZone: implicitZone,
            limit: limit
        )
    }
}
