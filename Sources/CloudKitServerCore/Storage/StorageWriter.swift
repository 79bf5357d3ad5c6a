#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CloudKitWire

/// What can be changed inside one `Storage.write`; reads see the changes made before them.
public protocol StorageWriter: StorageReader {
    /// Sets a value of the service itself.
    func setSetting(_ name: String, _ value: Data) throws

    // MARK: Accounts

    /// Adds an environment with an empty schema.
    func addEnvironment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment
    /// Replaces the schema of an environment.
    func setSchema(
        _ id: RowID<StoredEnvironment>,
        version: Int64,
        _ schema: Data
    ) throws
    /// Adds a user; the row of the argument is ignored.
    func addUser(_ user: StoredUser) throws -> StoredUser
    /// Adds a credential, or replaces the one with the same kind and hash.
    func putCredential(_ credential: StoredCredential) throws
    /// Removes a credential if it is there.
    func removeCredential(_ kind: StoredCredential.Kind, hash: Data) throws
    /// Removes the credentials that expired before a time.
    func removeCredentials(expiredBefore milliseconds: Int64) throws

    /// Adds a document, or replaces the one of that name.
    func putDocument(_ collection: String, _ document: StoredDocument) throws
    /// Removes a document if it is there.
    func removeDocument(_ collection: String, _ name: String) throws

    /// Adds an item at the end of its queue, in place of the one of the same slot; the row of the
    /// argument is ignored.
    func addPush(_ push: StoredPush) throws
    /// Puts an item back where it stood, unless its slot was taken meanwhile.
    func returnPush(_ push: StoredPush) throws
    /// Removes an item if it is there.
    func removePush(_ id: RowID<StoredPush>) throws
    /// Removes the items of a queue but for the newest ones.
    func removePushes(_ queue: Data, keepingNewest count: Int) throws

    // MARK: Databases and zones

    /// Adds a database.
    func addDatabase(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?,
        incarnation: Int64
    ) throws -> StoredDatabase
    /// Sets the number of a database's newest change.
    func setHeadSequence(_ id: RowID<StoredDatabase>, _ sequence: Int64) throws
    /// Gives every database of an environment another incarnation.
    func setIncarnation(
        _ environment: RowID<StoredEnvironment>,
        _ incarnation: Int64
    ) throws
    /// Adds a zone; the row of the argument is ignored.
    func addZone(_ zone: StoredZone) throws -> StoredZone
    /// Replaces a zone's row.
    func updateZone(_ zone: StoredZone) throws
    /// Removes a zone's records, index entries and references, but not its row.
    func removeContents(of zone: RowID<StoredZone>) throws

    // MARK: Records

    /// Adds a record; the row of the argument is ignored.
    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord>
    /// Replaces a record's row.
    func updateRecord(_ record: StoredRecord) throws
    /// Removes a record's row, which has no index entries, references and assets any more.
    func removeRecord(_ id: RowID<StoredRecord>) throws
    /// Adds index entries; those that are there already stay.
    func addEntries(_ entries: [IndexEntry], in zone: RowID<StoredZone>) throws
    /// Removes an index entry if it is there.
    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws
    /// Removes every index entry of a record; slow, for records whose values are not known any more.
    func removeEntries(of record: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws
    /// Removes every entry of an index in an environment.
    func removeEntries(index: Int64, _ environment: RowID<StoredEnvironment>) throws
    /// Adds an entry for every record of an environment that stands in one index and not in another.
    ///
    /// - Parameters:
    ///   - index: The index to add to.
    ///   - key: The key of the new entries.
    ///   - known: The index that has all the records.
    ///   - environment: The environment.
    /// - Throws: `StorageError`.
    func addMissingEntries(
        index: Int64,
        key: Data,
        for known: Int64,
        _ environment: RowID<StoredEnvironment>
    ) throws
    /// Notes records that entered or left what a user sees, each in place of its earlier note.
    func putSightings(
        _ sightings: [StoredSighting],
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) throws
    /// Adds a reference.
    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws
    /// Removes the references that a record holds.
    func removeReferences(from source: RowID<StoredRecord>) throws
    /// Replaces the checksums of the assets that a record holds.
    func setAssets(_ checksums: [Data], of record: RowID<StoredRecord>) throws

    // MARK: Snapshots

    /// Removes the zones of every database of an environment with all that is in them, and sets the
    /// databases' newest change to 0; numbers of removed zones are never given again.
    func removeZones(of environment: RowID<StoredEnvironment>) throws
    /// Removes the schema of an environment.
    func removeSchema(of environment: RowID<StoredEnvironment>) throws
    /// Removes the documents of some collections and of those below them.
    ///
    /// Below a collection are those whose names start with its name and a slash.
    func removeDocuments(in collections: [String]) throws
    /// Keeps the schema, databases and zones of some environments and the documents of some
    /// collections, and of those below them; replaces the snapshot of that name.
    func addSnapshot(
        _ snapshot: StoredSnapshot,
        of environments: [RowID<StoredEnvironment>],
        documents collections: [String]
    ) throws
    /// Puts back what a snapshot has, where all of that was removed before.
    ///
    /// Zones and documents come back as they were; records may get other rows, in the same order.
    /// Databases that the snapshot does not know stay as they are.
    ///
    /// - Throws: `StorageError`.
    func restoreSnapshot(_ container: String, _ name: String) throws
    /// Removes a snapshot if it is there.
    func removeSnapshot(_ container: String, _ name: String) throws
}

extension StorageWriter {
    /// Adds an index entry.
    public func addEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try addEntries([entry], in: zone)
    }
}
