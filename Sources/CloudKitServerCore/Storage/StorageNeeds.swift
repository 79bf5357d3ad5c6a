#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rows that a request is going to read.
///
/// They are an announcement, not a limit: whatever is missing is read when it is asked for, which
/// costs an engine across a network a round trip. What is announced and not read costs little. An engine
/// in the process ignores all of it.
///
/// ```swift
/// var needs = StorageNeeds(in: DatabaseKey(environment: environment, owner: user))
/// needs.zone("Notes") { $0.records = ["a", "b"] }
/// ```
public struct StorageNeeds: Hashable, Sendable {
    /// The environments.
    public var environments: Set<RowID<StoredEnvironment>> = []
    /// The users.
    public var users: Set<RowID<StoredUser>> = []
    /// The database.
    public var database: DatabaseKey?
    /// `true` for the list of the database's live zones.
    public var listsZones = false
    /// Zones of the database, by name, each with what is read of it.
    public private(set) var zones: [String: Contents] = [:]
    /// Zones by row, each with what is read of it.
    public private(set) var zoneRows: [RowID<StoredZone>: Contents] = [:]
    /// Whole collections of documents.
    public var collections: Set<String> = []
    /// Documents.
    public var documents: Set<DocumentKey> = []
    /// Queues, of each its oldest item.
    public var queues: Set<Data> = []

    /// Creates needs.
    ///
    /// - Parameter database: The database whose zones are needed; nil for none.
    public init(in database: DatabaseKey? = nil) {
        self.database = database
    }

    /// Returns no needs.
    @Sendable public static func none() -> Self { Self() }

    /// Adds a zone of the database, with what is read of it.
    public mutating func zone(_ name: String, _ change: (inout Contents) -> Void = { _ in }) {
        change(&zones[name, default: Contents()])
    }

    /// Adds a zone, with what is read of it.
    public mutating func zone(
        _ id: RowID<StoredZone>,
        _ change: (inout Contents) -> Void = { _ in }
    ) {
        change(&zoneRows[id, default: Contents()])
    }

    /// Returns the need of the oldest item of a queue.
    static func oldest(of queue: Data) -> Self {
        var needs = Self()
        needs.queues = [queue]
        return needs
    }

    /// Returns the need of records of a zone, by name.
    static func records(_ names: [String], in zone: RowID<StoredZone>) -> Self {
        var needs = Self()
        needs.zone(zone) { $0.records = names }
        return needs
    }

    /// Returns the need of records of a zone, by row.
    static func records(_ rows: [RowID<StoredRecord>], in zone: RowID<StoredZone>) -> Self {
        var needs = Self()
        needs.zone(zone) { $0.rows = rows }
        return needs
    }

    /// Returns the need of a scan, with the records that it finds.
    static func scan(_ scan: IndexScan) -> Self {
        var needs = Self()
        needs.zone(scan.zone) { $0.scans = [Scan(scan)] }
        return needs
    }

    /// The rows of a zone.
    public struct Contents: Hashable, Sendable {
        /// Records by name.
        public var records: [String] = []
        /// Records by row.
        public var rows: [RowID<StoredRecord>] = []
        /// Records by row, of which only the heads are read.
        public var heads: [RowID<StoredRecord>] = []
        /// `true` for the names of the shares.
        public var hasShares = false
        /// The names of records whose references in a circle are read, all of them.
        public var references: [ReferenceKey] = []
        /// The names of records whose references in a circle are counted, except those of parents.
        public var referenceCounts: [ReferenceKey] = []
        /// Pages of the change feed.
        public var feeds: [Feed] = []
        /// Scans of indexes, with the records that they find.
        public var scans: [Scan] = []
        /// Scans of indexes whose entries are counted.
        public var counts: [Scan] = []
        /// Collections of documents whose names end with the zone's number, by the part before it.
        public var collections: Set<String> = []

        /// Creates needs of nothing but the zone itself.
        public init() {}

        /// `true` when nothing but the zone itself is needed.
        public var isEmpty: Bool { self == Self() }
    }

    /// The references of a circle to a record.
    public struct ReferenceKey: Hashable, Sendable {
        /// The name of the record that they point to.
        public var target: String
        /// The circle.
        public var circle: String

        /// Creates a key.
        public init(to target: String, in circle: String) {
            self.target = target
            self.circle = circle
        }
    }

    /// A page of a zone's change feed.
    public struct Feed: Hashable, Sendable {
        /// The number at which it starts.
        public var sequence: Int64
        /// `true` when the feed is read from the newest change down.
        public var isReverse: Bool
        /// The maximum number of records.
        public var limit: Int

        /// Creates a page.
        public init(from sequence: Int64, isReverse: Bool, limit: Int) {
            self.sequence = sequence
            self.isReverse = isReverse
            self.limit = limit
        }
    }

    /// A scan of an index in whichever zone it is needed of.
    public struct Scan: Hashable, Sendable {
        private var base: IndexScan

        /// Creates a scan of a zone; its number does not matter.
        public init(_ scan: IndexScan) {
            base = scan
            base.zone = RowID(rawValue: 0)
        }

        /// Returns the scan in a zone.
        public func scan(in zone: RowID<StoredZone>) -> IndexScan {
            var scan = base
            scan.zone = zone
            return scan
        }
    }
}

/// The names of a database: an environment and an owner.
public struct DatabaseKey: Hashable, Sendable {
    /// The environment.
    public var environment: RowID<StoredEnvironment>
    /// The owner; nil for the public database.
    public var owner: RowID<StoredUser>?

    /// Creates a key.
    public init(environment: RowID<StoredEnvironment>, owner: RowID<StoredUser>?) {
        self.environment = environment
        self.owner = owner
    }
}

/// The names of a document.
public struct DocumentKey: Hashable, Sendable {
    /// The collection.
    public var collection: String
    /// The name in the collection.
    public var name: String

    /// Creates a key.
    public init(_ collection: String, _ name: String) {
        self.collection = collection
        self.name = name
    }
}
