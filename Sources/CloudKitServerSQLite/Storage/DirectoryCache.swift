import CloudKitServerCore

/// The rows that nearly every request reads first, as one transaction or an unchanged database has them.
///
/// Writes that share a transaction share the cache, and so do the reads of one connection. Every statement that may change one of the rows
/// clears it, except those that declare that they do not, such as inserts of records.
final class DirectoryCache {
    /// A database by its environment and owner.
    struct DatabaseKey: Hashable {
        var environment: RowID<StoredEnvironment>
        var owner: RowID<StoredUser>?
    }

    /// A zone by its database and name.
    struct ZoneKey: Hashable {
        var database: RowID<StoredDatabase>
        var name: String
    }

    /// Rows by key, each read once.
    struct Rows<Key: Hashable, Value> {
        /// The maximum number of rows; one more replaces them all.
        private static var limit: Int { 1000 }

        private var known: [Key: Value] = [:]

        /// Returns the value of a key, which a closure reads the first time.
        mutating func value(_ key: Key, read: () throws -> Value) rethrows -> Value {
            if let value = known[key] { return value }
            let value = try read()
            replace(key, value)
            return value
        }

        /// Stores a value that was just read or written.
        mutating func replace(_ key: Key, _ value: Value) {
            if known.count >= Self.limit { known = [:] }
            known[key] = value
        }
    }

    var environments = Rows<RowID<StoredEnvironment>, StoredEnvironment?>()
    var databases = Rows<DatabaseKey, StoredDatabase?>()
    var zones = Rows<ZoneKey, StoredZone?>()
    var users = Rows<RowID<StoredUser>, StoredUser?>()
    /// The content numbers of zones, and the reverse.
    var contents = Rows<RowID<StoredZone>, Int64?>()
    var zonesByContent = Rows<Int64, RowID<StoredZone>?>()
    /// The documents of whole collections.
    var documents = Rows<String, [StoredDocument]>()

    /// `true` when there may be discarded rows to remove; not cleared with the cache.
    var hasDiscarded = false

    /// Removes all rows from the cache.
    func empty() {
        environments = Rows()
        databases = Rows()
        zones = Rows()
        users = Rows()
        contents = Rows()
        zonesByContent = Rows()
        documents = Rows()
    }
}
