import CloudKit
import GRDB

/// A zone whose records a store syncs.
enum StoreZone: Hashable, Sendable {
    /// The user's own zone.
    case own
    /// Another zone of the user, in which the client shares that determines the records' format.
    case owned(name: String)
    /// A zone that another user shares.
    case shared(owner: String, name: String)
    /// The zone of the tables in the public database.
    case `public`

    /// The zone as the file has it: empty for the user's own, owner and name of another, without an owner where
    /// that is the user.
    var text: String {
        switch self {
        case .own: ""
        case .owned(let name): "/\(name)"
        case .shared(let owner, let name): "\(owner)/\(name)"
        case .public: "public"
        }
    }

    init(text: String) {
        switch text {
        case "": self = .own
        case "public": self = .public
        default:
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.dropFirst().joined()
            self =
                parts[0].isEmpty ? .owned(name: name) : .shared(owner: String(parts[0]), name: name)
        }
    }

    /// `true` when the zone is another user's.
    var isShared: Bool { owner != nil }

    /// The user who shares the zone; nil for the user's own ones, and for the public one.
    var owner: String? {
        if case .shared(let owner, _) = self { owner } else { nil }
    }

    /// `true` for a zone in which the user shares.
    var isOwned: Bool { if case .owned = self { true } else { false } }
}

extension StoreZone: Comparable {
    /// The order in which zones have a key that rows of several of them use: the user's own is the first.
    static func < (one: StoreZone, other: StoreZone) -> Bool { one.text < other.text }
}

extension StoreZone: DatabaseValueConvertible, StatementColumnConvertible {
    var databaseValue: DatabaseValue { text.databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> StoreZone? {
        String.fromDatabaseValue(value).map(StoreZone.init(text:))
    }

    init?(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(text: String(sqliteStatement: sqliteStatement, index: index))
    }
}

extension StoreFile {
    /// Returns the zone of an ID; nil for zones of no store.
    func zone(_ id: CKRecordZone.ID) -> StoreZone? {
        if id == zoneID { return .own }
        if id == CKRecordZone.ID.default { return .public }
        let isOwn = id.ownerName == zoneID.ownerName
        if let shareZonePrefix {
            guard id.zoneName.hasPrefix(shareZonePrefix) else { return nil }
            if isOwn { return .owned(name: id.zoneName) }
        } else if isOwn || id.zoneName != zoneID.zoneName {
            return nil
        }
        return .shared(owner: id.ownerName, name: id.zoneName)
    }

    /// Returns the ID of a zone.
    func id(_ zone: StoreZone) -> CKRecordZone.ID {
        switch zone {
        case .own: zoneID
        case .owned(let name): CKRecordZone.ID(zoneName: name, ownerName: zoneID.ownerName)
        case .shared(let owner, let name): CKRecordZone.ID(zoneName: name, ownerName: owner)
        case .public: .default
        }
    }

    /// Returns the zone of a row.
    func zone(_ database: Database, of key: RowKey) throws -> StoreZone {
        if catalog[key.table]?.isPublic == true { return .public }
        return try Place.fetch(database, key)?.zone ?? .own
    }

    /// Returns the zones besides the user's own that have rows here: those of other users, and those in which the
    /// user shares.
    static func sharedZones(_ database: Database) throws -> [StoreZone] {
        try StoreZone.fetchAll(
            database,
            sql: "SELECT DISTINCT zone FROM grdb_cloudkit_place WHERE zone <> '' ORDER BY zone"
        )
    }

    /// Returns the zones in which the user shares, and which have rows here.
    static func ownedZones(_ database: Database) throws -> [StoreZone] {
        // Read for each batch: the range of their texts finds them by the index, without the places of
        // all other rows.
        try StoreZone.fetchAll(
            database,
            sql: """
                SELECT DISTINCT zone FROM grdb_cloudkit_place
                WHERE zone > '/' AND zone < '0' ORDER BY zone
                """
        )
    }

    /// Forgets what was fetched, so that the next fetch is from the beginning, and looks for deleted records.
    static func fetchEverything(_ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE grdb_cloudkit_control SET engine = NULL, sharedEngine = NULL, sweeps = 1;
                DELETE FROM grdb_cloudkit_public;
                """
        )
        for zone in try sharedZones(database) { try sweep(zone, true, database) }
    }

    /// Stores whether a zone's records still have to be swept.
    static func sweep(_ zone: StoreZone, _ sweeps: Bool, _ database: Database) throws {
        try database.execute(
            sql: zone == .own
                ? "UPDATE grdb_cloudkit_control SET sweeps = ?2"
                : "INSERT OR REPLACE INTO grdb_cloudkit_zone (zone, sweeps) VALUES (?1, ?2)",
            arguments: [zone, sweeps]
        )
    }
}
