import CloudKitServerCore

/// The rows that nearly every write looks at first, as one transaction has read them.
///
/// Writes that share a transaction share these too. Every statement that may change one empties the
/// cache; those that say that they do not, such as the inserts of records, leave it.
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
        private var known: [Key: Value] = [:]

        /// The value of a key; a closure reads it the first time.
        mutating func value(_ key: Key, read: () throws -> Value) rethrows -> Value {
            if let value = known[key] { return value }
            let value = try read()
            known[key] = value
            return value
        }

        /// Takes a value that was just written.
        mutating func replace(_ key: Key, _ value: Value) {
            known[key] = value
        }
    }

    var environments = Rows<RowID<StoredEnvironment>, StoredEnvironment?>()
    var databases = Rows<DatabaseKey, StoredDatabase?>()
    var zones = Rows<ZoneKey, StoredZone?>()
    var users = Rows<RowID<StoredUser>, StoredUser?>()
    /// Under which number the contents of a zone are kept, and the other way round.
    var contents = Rows<RowID<StoredZone>, Int64?>()
    var zonesByContent = Rows<Int64, RowID<StoredZone>?>()
    /// The documents of whole collections.
    var documents = Rows<String, [StoredDocument]>()

    /// Whether something was put out of reach that is to be removed; stays when all is forgotten.
    var hasDiscarded = false

    /// Forgets the rows.
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
