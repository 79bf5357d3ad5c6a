#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CloudKitWire

/// What can be read inside one `Storage.read` or `Storage.write`; used on one thread at a time.
public protocol StorageReader {
    /// A value of the service itself, such as its signing key.
    func setting(_ name: String) throws -> Data?

    // MARK: Accounts

    /// An environment of a container.
    func environment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment?
    /// An environment by its row.
    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment?
    /// All environments, by container and kind.
    func environments() throws -> [StoredEnvironment]
    /// The encoded schema of an environment; nil before the first.
    func schema(_ id: RowID<StoredEnvironment>) throws -> Data?
    /// A credential by its hash.
    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential?
    /// All credentials of an environment, by kind and hash.
    func credentials(_ environment: RowID<StoredEnvironment>) throws -> [StoredCredential]
    /// A user by its row.
    func user(_ id: RowID<StoredUser>) throws -> StoredUser?
    /// A user by record name.
    func user(container: String, recordName: String) throws -> StoredUser?
    /// All users of a container, by record name.
    func users(container: String) throws -> [StoredUser]

    /// A document by its name.
    func document(_ collection: String, _ name: String) throws -> Data?
    /// The documents of a collection, by name.
    func documents(_ collection: String) throws -> [StoredDocument]

    /// The items of a queue, oldest first.
    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush]

    // MARK: Databases and zones

    /// The public database of an environment, or a user's private one.
    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase?
    /// A database by its row.
    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase?
    /// All databases of an environment, by row.
    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase]
    /// A zone by name, also a deleted one.
    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone?
    /// A zone by its row, also a deleted one.
    func zone(_ id: RowID<StoredZone>) throws -> StoredZone?
    /// The live zones of a database, by name.
    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone]
    /// The live zones of all databases of an environment, by row.
    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone]
    /// Zones whose newest change came after a number, in that order; deleted ones too.
    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone]

    // MARK: Records

    /// A record by name, also a tombstone.
    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord?
    /// A record by its row, also a tombstone.
    func record(_ id: RowID<StoredRecord>) throws -> StoredRecord?
    /// A record by its row, without what may be large, also a tombstone.
    func head(of id: RowID<StoredRecord>) throws -> StoredRecordHead?
    /// Records whose newest change came after a number, in that order; tombstones too.
    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord]
    /// Records whose newest change came before a number, newest first; tombstones too.
    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord]
    /// Tombstones of records that were deleted before a time, oldest first; not those that another
    /// record or tombstone of their zone names as its parent.
    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord]
    /// The shares that live records of a zone are the roots of, by name.
    func shares(_ zone: RowID<StoredZone>) throws -> [String]
    /// The records that name a record as their parent, by row; tombstones too.
    func children(
        _ zone: RowID<StoredZone>,
        of parent: String,
        limit: Int
    ) throws -> [StoredRecord]
    /// The records that entered or left what a user sees of a zone after a number, in that order.
    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting]
    /// The records that entered or left what a user sees of a zone before a number, newest first.
    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting]
    /// The references of one circle that point to a record, by source.
    func references(
        _ zone: RowID<StoredZone>,
        to target: String,
        in circle: String
    ) throws -> [StoredReference]
    /// The number of references of one kind and circle that point to a record.
    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind,
        in circle: String
    ) throws -> Int

    /// Whether a record, or one in a snapshot, holds the asset of a checksum.
    func holdsAsset(_ checksum: Data) throws -> Bool

    // MARK: Indexes

    /// Entries of one index in the order of their keys, then of their records.
    func entries(_ scan: IndexScan) throws -> [IndexEntry]
    /// The number of entries that a scan would answer, counted no further than its limit.
    func entryCount(_ scan: IndexScan) throws -> Int

    // MARK: Snapshots

    /// The snapshots of a container, by name.
    func snapshots(_ container: String) throws -> [StoredSnapshot]
    /// What a later snapshot, or nil for now, has other than an earlier one, zone by zone, by name.
    func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        limit: Int
    ) throws -> [SnapshotDifference]
}

extension StorageReader {
    /// Refuses: an engine that compares snapshots says so itself.
    public func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        limit: Int
    ) throws -> [SnapshotDifference] {
        throw StorageError(.other, "This storage does not compare snapshots")
    }
}
