import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A writer that counts the reads and writes of a request, and ends it if there are too many.
struct MeteredWriter: Metered, StorageWriter {
    let base: any StorageWriter
    let work: RequestWork

    var source: any StorageReader { base }

    func announceChangedCallers() { base.announceChangedCallers() }

    func requireUnchanged(_ collection: String, _ name: String) throws {
        try work.spend(1)
        try base.requireUnchanged(collection, name)
    }

    func setSetting(_ name: String, _ value: Data) throws {
        try work.spend(1)
        try base.setSetting(name, value)
    }

    func addEnvironment(container: String, _ kind: ServiceEnvironment) throws -> StoredEnvironment {
        try work.spend(1)
        return try base.addEnvironment(container: container, kind)
    }

    func setSchema(_ id: RowID<StoredEnvironment>, version: Int64, _ schema: Data) throws {
        try work.spend(1)
        try base.setSchema(id, version: version, schema)
    }

    func addUser(_ user: StoredUser) throws -> StoredUser {
        try work.spend(1)
        return try base.addUser(user)
    }

    func removeUser(_ id: RowID<StoredUser>) throws {
        try work.spend(1)
        try base.removeUser(id)
    }

    func putCredential(_ credential: StoredCredential) throws {
        try work.spend(1)
        try base.putCredential(credential)
    }

    func removeCredential(_ kind: StoredCredential.Kind, hash: Data) throws {
        try work.spend(1)
        try base.removeCredential(kind, hash: hash)
    }

    func removeCredentials(expiredBefore milliseconds: Int64) throws {
        try work.spend(1)
        try base.removeCredentials(expiredBefore: milliseconds)
    }

    func putDocument(_ collection: String, _ document: StoredDocument) throws {
        try work.spend(1)
        try base.putDocument(collection, document)
    }

    func removeDocument(_ collection: String, _ name: String) throws {
        try work.spend(1)
        try base.removeDocument(collection, name)
    }

    func addPush(_ push: StoredPush) throws {
        try work.spend(1)
        try base.addPush(push)
    }

    func returnPush(_ push: StoredPush) throws {
        try work.spend(1)
        try base.returnPush(push)
    }

    func removePush(_ id: RowID<StoredPush>) throws {
        try work.spend(1)
        try base.removePush(id)
    }

    func removePushes(_ queue: Data, keepingNewest count: Int) throws {
        try work.spend(1)
        try base.removePushes(queue, keepingNewest: count)
    }

    func addDatabase(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?,
        incarnation: Int64
    ) throws -> StoredDatabase {
        try work.spend(1)
        return try base.addDatabase(environment, owner: owner, incarnation: incarnation)
    }

    func setHeadSequence(_ id: RowID<StoredDatabase>, _ sequence: Int64) throws {
        try work.spend(1)
        try base.setHeadSequence(id, sequence)
    }

    func setIncarnation(_ environment: RowID<StoredEnvironment>, _ incarnation: Int64) throws {
        try work.spend(1)
        try base.setIncarnation(environment, incarnation)
    }

    func addZone(_ zone: StoredZone) throws -> StoredZone {
        try work.spend(1)
        return try base.addZone(zone)
    }

    func updateZone(_ zone: StoredZone) throws {
        try work.spend(1)
        try base.updateZone(zone)
    }

    func removeContents(of zone: RowID<StoredZone>) throws {
        try work.spend(1)
        try base.removeContents(of: zone)
    }

    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord> {
        try work.spend(1)
        return try base.addRecord(record)
    }

    func updateRecord(_ record: StoredRecord) throws {
        try work.spend(1)
        try base.updateRecord(record)
    }

    func removeRecord(_ id: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        try work.spend(1)
        try base.removeRecord(id, in: zone)
    }

    func addEntries(_ entries: [IndexEntry], in zone: RowID<StoredZone>) throws {
        try work.spend(entries.count)
        try base.addEntries(entries, in: zone)
    }

    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try work.spend(1)
        try base.removeEntry(entry, in: zone)
    }

    func removeEntries(of record: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        try work.spend(64)
        try base.removeEntries(of: record, in: zone)
    }

    func removeEntries(index: Int64, _ environment: RowID<StoredEnvironment>) throws {
        try work.spend(1)
        try base.removeEntries(index: index, environment)
    }

    func addMissingEntries(
        index: Int64,
        key: Data,
        for known: Int64,
        _ environment: RowID<StoredEnvironment>
    ) throws {
        // One statement may touch every record of a type.
        try work.spend(64)
        try base.addMissingEntries(index: index, key: key, for: known, environment)
    }

    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws {
        try work.spend(1)
        try base.addReference(reference, in: zone)
    }

    func removeReferences(
        from source: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        try work.spend(1)
        try base.removeReferences(from: source, in: zone)
    }

    func putSightings(
        _ sightings: [StoredSighting],
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) throws {
        try work.spend(sightings.count)
        try base.putSightings(sightings, of: viewer, in: zone)
    }

    func setAssets(
        _ checksums: [Data],
        of record: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        try work.spend(1)
        try base.setAssets(checksums, of: record, in: zone)
    }

    func removeZones(of environment: RowID<StoredEnvironment>) throws {
        try work.spend(1)
        try base.removeZones(of: environment)
    }

    func removeSchema(of environment: RowID<StoredEnvironment>) throws {
        try work.spend(1)
        try base.removeSchema(of: environment)
    }

    func removeDocuments(in collections: [String]) throws {
        try work.spend(1)
        try base.removeDocuments(in: collections)
    }

    func addSnapshot(
        _ snapshot: StoredSnapshot,
        of environments: [RowID<StoredEnvironment>],
        documents collections: [String]
    ) throws {
        try work.spend(1)
        try base.addSnapshot(snapshot, of: environments, documents: collections)
    }

    func restoreSnapshot(_ container: String, _ name: String) throws {
        try work.spend(1)
        try base.restoreSnapshot(container, name)
    }

    func removeSnapshot(_ container: String, _ name: String) throws {
        try work.spend(1)
        try base.removeSnapshot(container, name)
    }
}
