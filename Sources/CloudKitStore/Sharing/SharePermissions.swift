import CloudKit
import GRDB

/// The permissions that another user's shares grant for the records below them, derived for those
/// records whose places, or whose shares, changed.
///
/// A row that was never sent has the permission of the row above it, which its trigger copied.
struct SharePermissions {
    private let database: Database
    private let zone: StoreZone
    /// The zone's shares, with whether they may be written.
    private let shares: [String: Bool]
    private var keys: [String: RowKey]
    /// The permissions that are known by now; nil for a record below no share.
    private var found: [String: Bool?] = [:]
    /// The records whose permissions changed, and of which those below remain to be looked at.
    private var changed: [String] = []

    /// Creates the permissions of a zone, to be updated for some records.
    init(_ database: Database, _ zone: StoreZone, keys: [String: RowKey]) throws {
        self.database = database
        self.zone = zone
        self.keys = keys
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT name, writes FROM grdb_cloudkit_share WHERE zone = ?"
            ),
            arguments: [zone]
        )
        shares = Dictionary(rows.map { ($0[0] as String, $0[1] as Bool) }) { first, _ in first }
    }

    /// Updates the places of the records, and of those below them.
    mutating func update() throws {
        for name in keys.keys.sorted() { try derive(name) }
        while let name = changed.popLast() {
            for child in try Place.names(below: name, in: zone, database) { try derive(child) }
        }
    }

    /// Derives the permissions of a record and of those above it, from the top down.
    private mutating func derive(_ name: String) throws {
        var path: [(name: String, key: RowKey, place: Place)] = []
        var current: String? = name
        var above: Bool?
        while let name = current {
            if let known = found[name] {
                above = known
                break
            }
            let key = try keys[name] ?? KnownRecord.fetch(database, name: name)?.key
            guard let key, let place = try Place.fetch(database, key), place.zone == zone else {
                break
            }
            // A cycle ends here.
            found[name] = .some(nil)
            path.append((name, key, place))
            current = place.parent
        }
        for (name, key, place) in path.reversed() {
            let grants = [
                place.share.flatMap { shares[$0] }, shares[CKRecordNameZoneWideShare], above,
            ].compactMap(\.self)
            above = grants.isEmpty ? nil : grants.contains(true)
            found[name] = .some(above)
            guard let above, above != place.writes else { continue }
            var updated = place
            updated.writes = above
            try updated.save(database, key)
            changed.append(name)
        }
    }
}
