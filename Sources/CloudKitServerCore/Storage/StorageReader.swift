#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CloudKitWire

/// The reading functions of one `Storage.read` or `Storage.write`; used on one thread at a time.
///
/// Every read may be made at any time. A reader to which they were announced, by ``prepare(_:)`` or by the call
/// that began the read, may have the rows already.
public protocol StorageReader {
    /// Announces what is about to be read, so that an engine across a network can read it at once.
    ///
    /// It changes no result. An engine that answers without waiting does not ask for the needs, so that
    /// finding them out costs it nothing.
    ///
    /// - Parameter needs: Returns the needs, and may itself read for them, by a reader that counts nothing.
    /// - Throws: `StorageError`.
    func prepare(_ needs: (_ reader: any StorageReader) throws -> StorageNeeds) throws

    /// Returns a value of the service itself, such as its signing key.
    func setting(_ name: String) throws -> Data?

    // MARK: Accounts

    /// Returns an environment of a container.
    func environment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment?
    /// Returns an environment by its row.
    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment?
    /// Returns all environments, by container and kind.
    func environments() throws -> [StoredEnvironment]
    /// Returns the encoded schema of an environment; `nil` before the first.
    func schema(_ id: RowID<StoredEnvironment>) throws -> Data?
    /// Returns a credential by its hash.
    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential?
    /// Returns all credentials of an environment, by kind and hash.
    func credentials(_ environment: RowID<StoredEnvironment>) throws -> [StoredCredential]
    /// Returns a user by its row.
    func user(_ id: RowID<StoredUser>) throws -> StoredUser?
    /// Returns a user by record name.
    func user(container: String, recordName: String) throws -> StoredUser?
    /// Returns all users of a container, by record name.
    func users(container: String) throws -> [StoredUser]

    /// Returns a document by its name.
    func document(_ collection: String, _ name: String) throws -> Data?
    /// Returns the documents of a collection, by name.
    func documents(_ collection: String) throws -> [StoredDocument]

    /// Returns the items of a queue, oldest first.
    func pushes(_ queue: Data, limit: Int) throws -> [StoredPush]
    /// Returns those of some queues that have items.
    func filledQueues(_ queues: Set<Data>) throws -> Set<Data>

    // MARK: Databases and zones

    /// Returns the public database of an environment, or a user's private one.
    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase?
    /// Returns a database by its row.
    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase?
    /// Returns all databases of an environment, by row.
    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase]
    /// Returns a zone by name, including a deleted one.
    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone?
    /// Returns a zone by its row, including a deleted one.
    func zone(_ id: RowID<StoredZone>) throws -> StoredZone?
    /// Returns the live zones of a database, by name.
    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone]
    /// Returns the live zones of all databases of an environment, by row.
    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone]
    /// Returns the zones whose newest change has a higher number, in that order, including deleted ones.
    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone]

    // MARK: Records

    /// Returns a record or tombstone by name.
    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord?
    /// Returns a record or tombstone of a zone by its row.
    func record(
        _ id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecord?
    /// Returns a record or tombstone of a zone by its row, without the parts that may be large.
    func head(
        of id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecordHead?
    /// Returns records and tombstones whose newest change has a higher number, in that order.
    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord]
    /// Returns records and tombstones whose newest change has a lower number, newest first.
    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord]
    /// Returns the number of records and tombstones whose newest change has a higher number.
    func changeCount(_ zone: RowID<StoredZone>, after sequence: Int64) throws -> Int
    /// Returns the tombstones of records that were deleted before a time, oldest first, except
    /// those that another record or tombstone of their zone names as its parent.
    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord]
    /// Returns the names of the shares whose roots are live records of a zone.
    func shares(_ zone: RowID<StoredZone>) throws -> [String]
    /// Returns the records and tombstones that name a record as their parent, by row.
    func children(
        _ zone: RowID<StoredZone>,
        of parent: String,
        limit: Int
    ) throws -> [StoredRecord]
    /// Returns the records that entered or left a user's sight of a zone after a number, in that order.
    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting]
    /// Returns the records that entered or left a user's sight of a zone before a number, newest first.
    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting]
    /// Returns the references of one circle to a record, by source.
    func references(
        _ zone: RowID<StoredZone>,
        to target: String,
        in circle: String
    ) throws -> [StoredReference]
    /// Returns the number of references of one kind and circle to a record.
    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind,
        in circle: String
    ) throws -> Int

    /// Returns whether a record, or one in a snapshot, holds the asset with a checksum.
    func holdsAsset(_ checksum: Data) throws -> Bool

    // MARK: Indexes

    /// Returns entries of one index in the order of their keys, then of their records.
    func entries(_ scan: IndexScan) throws -> [IndexEntry]
    /// Calls a closure for the entries of a scan, in the order of ``entries(_:)``, and their records.
    ///
    /// - Parameters:
    ///   - scan: The part of an index.
    ///   - body: A closure that receives an entry and its record, which is nil if it is not in the zone; it returns
    ///     `false` to end.
    /// - Throws: `StorageError`, or the closure's error.
    func forEachRecord(
        in scan: IndexScan,
        _ body: (_ entry: IndexEntry, _ record: StoredRecord?) throws -> Bool
    ) throws
    /// Returns the number of entries that a scan would return, counted up to its limit.
    func entryCount(_ scan: IndexScan) throws -> Int

    // MARK: Snapshots

    /// Returns the snapshots of a container, by name.
    func snapshots(_ container: String) throws -> [StoredSnapshot]
    /// Returns the differences of a later snapshot, or of now for nil, from an earlier one, by zone and name.
    ///
    /// A zone of the implicit name, which every user has, is no difference while it has no records.
    func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        implicitZone: String,
        limit: Int
    ) throws -> [SnapshotDifference]
}

extension StorageReader {
    /// Does nothing because every read is answered without waiting.
    public func prepare(
        _ needs: (_ reader: any StorageReader) throws -> StorageNeeds
    ) throws {}

    /// Reads the entries, and then one record after the other.
    public func forEachRecord(
        in scan: IndexScan,
        _ body: (_ entry: IndexEntry, _ record: StoredRecord?) throws -> Bool
    ) throws {
        try prepare { _ in .scan(scan) }
        for entry in try entries(scan) {
            guard try body(entry, record(entry.record, in: scan.zone)) else { return }
        }
    }

    /// Looks at one queue after the other, because every read is answered without waiting.
    public func filledQueues(_ queues: Set<Data>) throws -> Set<Data> {
        try queues.filter { try !pushes($0, limit: 1).isEmpty }
    }

    /// Refuses: an engine that compares snapshots says so itself.
    public func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        implicitZone: String,
        limit: Int
    ) throws -> [SnapshotDifference] {
        throw StorageError(.other, "This storage does not compare snapshots")
    }
}
