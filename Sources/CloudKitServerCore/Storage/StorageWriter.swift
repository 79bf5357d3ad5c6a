#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CloudKitWire

/// The writing functions of one `Storage.write`; reads see the changes made before them.
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
    /// Adds a user; the argument's row ID is ignored.
    func addUser(_ user: StoredUser) throws -> StoredUser
    /// Takes a user out of its container; the row stays, without container, name and address.
    func removeUser(_ id: RowID<StoredUser>) throws
    /// Adds a credential, or replaces the one with the same kind and hash.
    func putCredential(_ credential: StoredCredential) throws
    /// Removes a credential if it exists.
    func removeCredential(_ kind: StoredCredential.Kind, hash: Data) throws
    /// Removes the credentials that expired before a time.
    func removeCredentials(expiredBefore milliseconds: Int64) throws

    /// Adds a document, or replaces the one with its name.
    func putDocument(_ collection: String, _ document: StoredDocument) throws
    /// Removes a document if it exists.
    func removeDocument(_ collection: String, _ name: String) throws
    /// Requires that a document that was read is still the same when the write is kept; otherwise the
    /// write runs again.
    ///
    /// Documents that the write changes need no such call.
    func requireUnchanged(_ collection: String, _ name: String) throws
    /// Lets services on other nodes know, once the write is kept, that what they remember of callers may
    /// be wrong: of users, credentials, roles, and the schemas of environments.
    func announceChangedCallers()

    /// Adds an item at the end of its queue, replacing one with the same slot; the argument's row
    /// ID is ignored.
    func addPush(_ push: StoredPush) throws
    /// Returns an item to its place in the queue, unless its slot was taken meanwhile.
    func returnPush(_ push: StoredPush) throws
    /// Removes an item if it exists.
    func removePush(_ id: RowID<StoredPush>) throws
    /// Removes the items of a queue except the newest ones.
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
    /// Sets a new incarnation for every database of an environment.
    func setIncarnation(
        _ environment: RowID<StoredEnvironment>,
        _ incarnation: Int64
    ) throws
    /// Adds a zone; the argument's row ID is ignored.
    func addZone(_ zone: StoredZone) throws -> StoredZone
    /// Replaces a zone's row.
    func updateZone(_ zone: StoredZone) throws
    /// Removes a zone's records, index entries and references, but not its row.
    func removeContents(of zone: RowID<StoredZone>) throws

    // MARK: Records

    /// Adds a record; the argument's row ID is ignored.
    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord>
    /// Replaces a record's row.
    func updateRecord(_ record: StoredRecord) throws
    /// Removes a record's row, which must no longer have index entries, references and assets.
    func removeRecord(_ id: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws
    /// Adds index entries; existing ones are kept.
    func addEntries(_ entries: [IndexEntry], in zone: RowID<StoredZone>) throws
    /// Removes an index entry if it exists.
    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws
    /// Removes every index entry of a record; slow, for records whose values are no longer known.
    func removeEntries(of record: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws
    /// Removes every entry of an index in an environment.
    func removeEntries(index: Int64, _ environment: RowID<StoredEnvironment>) throws
    /// Adds an entry for every record of an environment that is in one index and not in another.
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
    /// Stores sightings of records that entered or left a user's sight, each replacing its earlier one.
    func putSightings(
        _ sightings: [StoredSighting],
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) throws
    /// Adds a reference.
    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws
    /// Removes the references that a record holds.
    func removeReferences(
        from source: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws
    /// Replaces the checksums of the assets that a record holds.
    func setAssets(
        _ checksums: [Data],
        of record: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws

    // MARK: Snapshots

    /// Removes all zones of an environment's databases with their contents, and sets the databases'
    /// newest change to 0; numbers of removed zones are never reused.
    func removeZones(of environment: RowID<StoredEnvironment>) throws
    /// Removes the schema of an environment.
    func removeSchema(of environment: RowID<StoredEnvironment>) throws
    /// Removes the documents of some collections and their subcollections.
    ///
    /// A subcollection's name begins with the collection's name and a slash.
    func removeDocuments(in collections: [String]) throws
    /// Saves the schema, databases and zones of some environments and the documents of some
    /// collections and their subcollections; replaces a snapshot with the same name.
    func addSnapshot(
        _ snapshot: StoredSnapshot,
        of environments: [RowID<StoredEnvironment>],
        documents collections: [String]
    ) throws
    /// Restores the contents of a snapshot, after all of the current contents were removed.
    ///
    /// Zones and documents are restored unchanged; records may get other rows, in the same order.
    /// Databases that the snapshot does not contain stay unchanged.
    ///
    /// - Throws: `StorageError`.
    func restoreSnapshot(_ container: String, _ name: String) throws
    /// Removes a snapshot if it exists.
    func removeSnapshot(_ container: String, _ name: String) throws
}

extension StorageWriter {
    /// Does nothing because nothing else is written meanwhile.
    public func requireUnchanged(_ collection: String, _ name: String) throws {}

    /// Does nothing because there are no other nodes.
    public func announceChangedCallers() {}

    /// Adds an index entry.
    public func addEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try addEntries([entry], in: zone)
    }
}
