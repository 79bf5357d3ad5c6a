import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// As `MeteredReader`.
extension MeteredWriter {
    func setting(_ name: String) throws -> Data? {
        try work.spend(1)
        return try base.setting(name)
    }

    func environment(container: String, _ kind: ServiceEnvironment) throws -> StoredEnvironment? {
        try work.spend(1)
        return try base.environment(container: container, kind)
    }

    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment? {
        try work.spend(1)
        return try base.environment(id)
    }

    func environments() throws -> [StoredEnvironment] {
        let found = try base.environments()
        try work.spend(found.count)
        return found
    }

    func schema(_ id: RowID<StoredEnvironment>) throws -> Data? {
        try work.spend(1)
        return try base.schema(id)
    }

    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential? {
        try work.spend(1)
        return try base.credential(kind, hash: hash)
    }

    func user(_ id: RowID<StoredUser>) throws -> StoredUser? {
        try work.spend(1)
        return try base.user(id)
    }

    func user(container: String, recordName: String) throws -> StoredUser? {
        try work.spend(1)
        return try base.user(container: container, recordName: recordName)
    }

    func users(container: String) throws -> [StoredUser] {
        let found = try base.users(container: container)
        try work.spend(found.count)
        return found
    }

    func document(_ collection: String, _ name: String) throws -> Data? {
        try work.spend(1)
        return try base.document(collection, name)
    }

    func documents(_ collection: String) throws -> [StoredDocument] {
        let found = try base.documents(collection)
        try work.spend(found.count)
        return found
    }

    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush] {
        let found = try base.pushes(queue, limit: limit)
        try work.spend(found.count)
        return found
    }

    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase? {
        try work.spend(1)
        return try base.database(environment, owner: owner)
    }

    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase? {
        try work.spend(1)
        return try base.database(id)
    }

    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase] {
        let found = try base.databases(environment)
        try work.spend(found.count)
        return found
    }

    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone? {
        try work.spend(1)
        return try base.zone(database, name: name)
    }

    func zone(_ id: RowID<StoredZone>) throws -> StoredZone? {
        try work.spend(1)
        return try base.zone(id)
    }

    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone] {
        let found = try base.zones(database)
        try work.spend(found.count)
        return found
    }

    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone] {
        let found = try base.zones(environment)
        try work.spend(found.count)
        return found
    }

    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone] {
        let found = try base.changedZones(database, after: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord? {
        try work.spend(1)
        return try base.record(zone, name: name)
    }

    func record(_ id: RowID<StoredRecord>) throws -> StoredRecord? {
        try work.spend(1)
        return try base.record(id)
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        let found = try base.changedRecords(zone, after: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        let found = try base.changedRecords(zone, before: sequence, limit: limit)
        try work.spend(found.count)
        return found
    }

    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord] {
        let found = try base.tombstones(modifiedBefore: milliseconds, limit: limit)
        try work.spend(found.count)
        return found
    }

    func shares(_ zone: RowID<StoredZone>) throws -> [String] {
        let found = try base.shares(zone)
        try work.spend(found.count)
        return found
    }

    func references(_ zone: RowID<StoredZone>, to target: String) throws -> [StoredReference] {
        let found = try base.references(zone, to: target)
        try work.spend(found.count)
        return found
    }

    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind
    ) throws -> Int {
        let found = try base.referenceCount(zone, to: target, kind)
        try work.spend(found / 64)
        return found
    }

    func holdsAsset(_ checksum: Data) throws -> Bool {
        try work.spend(1)
        return try base.holdsAsset(checksum)
    }

    func entries(_ scan: IndexScan) throws -> [IndexEntry] {
        let found = try base.entries(scan)
        try work.spend(found.count)
        return found
    }

    func entryCount(_ scan: IndexScan) throws -> Int {
        let found = try base.entryCount(scan)
        try work.spend(found / 64)
        return found
    }

    func snapshots(_ container: String) throws -> [StoredSnapshot] {
        try work.spend(1)
        return try base.snapshots(container)
    }
}
