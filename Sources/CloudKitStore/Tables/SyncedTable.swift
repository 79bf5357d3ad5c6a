/// A table that a store keeps in sync, with its options.
///
/// ```swift
/// let tables: [SyncedTable] = [
///     .table("department"),
///     .table("employee", fieldRules: ["visits": .counter], encrypted: ["salary"]),
/// ]
/// ```
///
/// Columns, keys and foreign keys come from the live schema; declare only what the schema does not express.
public struct SyncedTable: Sendable {
    /// The table's name in the database.
    public var name: String

    /// The type of the table's records; the table's name by default.
    public var recordType: String

    /// The rule that decides between two edits of the same field.
    public var rule: MergeRule

    /// The rules of single columns, which take precedence over ``rule``.
    public var fieldRules: [String: MergeRule]

    /// The treatment of a row that one device deleted while another edited it.
    public var deletion: DeletionRule

    /// The treatment of a row that arrives with another row's values in UNIQUE columns.
    public var uniqueness: UniqueRule

    /// The source of the record names.
    public var recordNames: RecordNames

    /// The columns whose bytes are sent as assets, with the time of their download.
    public var assets: [String: AssetDownload]

    /// The columns whose values are encrypted.
    public var encrypted: Set<String>

    /// The columns that never leave the device.
    public var localOnly: Set<String>

    /// The forms of columns whose declared type is not specific enough.
    public var forms: [String: ColumnForm]

    /// The field names of columns whose name differs from their field's.
    ///
    /// An entry here keeps the field of a renamed column, so that older versions of the app and
    /// this one continue to share it.
    public var fields: [String: String]

    /// A Boolean value that indicates whether the app assigns integer keys that identify the same
    /// row on every device.
    ///
    /// Leave it `false` if SQLite numbers the rows, with or without AUTOINCREMENT: two offline
    /// devices would give the same number to two rows, which then become one row with the fields of
    /// both. `Database.replaceIntegerKeys(in:preloaded:)` gives these tables another kind of key.
    public var assignsIntegerKeys: Bool

    /// The column that refers to the row with which a row is shared; nil for the first reference
    /// with `ON DELETE CASCADE`, or else the first reference.
    public var parent: String?

    /// The app's triggers on the table that do not run while the store writes.
    ///
    /// A trigger that changes synced rows runs on the device where the user writes, and its changes
    /// are synced. If it also ran for the store's writes, devices would differ. Full-text triggers
    /// have to run for all writes.
    public var suspendsTriggers: Set<String>

    /// The database that holds the table's records.
    public var database: TableDatabase

    /// The format of the records where another client determines it; nil for the store's own.
    package var format: RecordFormat?

    /// Declares a table.
    ///
    /// - Parameters:
    ///   - name: The table's name in the database.
    ///   - recordType: The type of the table's records; the table's name by default.
    ///   - rule: The rule that decides between two edits of the same field.
    ///   - fieldRules: The rules of single columns, which take precedence over `rule`.
    ///   - deletion: The treatment of a row that one device deleted while another edited it.
    ///   - uniqueness: The treatment of a row that arrives with another row's values in UNIQUE columns.
    ///   - recordNames: The source of the record names; ``RecordNames/key`` for records that an app
    ///     without this store writes too.
    ///   - assets: The columns whose bytes are sent as assets, with the time of their download.
    ///   - encrypted: The columns whose values are encrypted.
    ///   - localOnly: The columns that never leave the device.
    ///   - forms: The forms of columns whose declared type is not specific enough.
    ///   - fields: The field names of columns whose name differs from their field's.
    ///   - assignsIntegerKeys: Whether the app assigns integer keys that identify the same row on
    ///     every device. Otherwise integer keys are refused, because SQLite gives the same number
    ///     to different rows on different devices.
    ///   - parent: The column that refers to the row with which a row is shared; by default the
    ///     first reference with `ON DELETE CASCADE`, or else the first reference.
    ///   - suspendsTriggers: The app's triggers on the table that do not run while the store writes.
    ///   - database: The database that holds the table's records.
    /// - Returns: The declaration.
    public static func table(
        _ name: String,
        recordType: String? = nil,
        rule: MergeRule = .laterEdit,
        fieldRules: [String: MergeRule] = [:],
        deletion: DeletionRule = .editWins,
        uniqueness: UniqueRule = .firstWins,
        recordNames: RecordNames = .typeAndKey,
        assets: [String: AssetDownload] = [:],
        encrypted: Set<String> = [],
        localOnly: Set<String> = [],
        forms: [String: ColumnForm] = [:],
        fields: [String: String] = [:],
        assignsIntegerKeys: Bool = false,
        parent: String? = nil,
        suspendsTriggers: Set<String> = [],
        database: TableDatabase = .private
    ) -> SyncedTable {
        SyncedTable(
            name: name,
            recordType: recordType ?? name,
            rule: rule,
            fieldRules: fieldRules,
            deletion: deletion,
            uniqueness: uniqueness,
            recordNames: recordNames,
            assets: assets,
            encrypted: encrypted,
            localOnly: localOnly,
            forms: forms,
            fields: fields,
            assignsIntegerKeys: assignsIntegerKeys,
            parent: parent,
            suspendsTriggers: suspendsTriggers,
            database: database
        )
    }
}

/// The source of the record names of a table.
public enum RecordNames: String, Hashable, Sendable {
    /// The record type, a colon and the key, so that rows of two tables can have the same key.
    case typeAndKey
    /// The key alone, as in zones that an app without this store writes: the key's column holds
    /// that app's record name and is not a field.
    ///
    /// The key is a single text column. Names are unique in a zone, so no two rows of such tables
    /// can have the same key.
    case key
}

/// The treatment of a row that arrives with the values of a local row in UNIQUE columns.
public enum UniqueRule: String, Hashable, Sendable {
    /// The record that reached the server first stays. The other row is deleted on all devices and kept in
    /// the journal under the rule `unique`; references to it are redirected to the row that stays.
    case firstWins
    /// Nothing is deleted: the row that arrived is quarantined, with its reason in the status, until the
    /// user has changed or deleted one of the two. It stays on the device where it was created.
    ///
    /// Use it for a UNIQUE index that a new version of the app adds, while older versions insert
    /// rows that violate it.
    case waits
}

/// The time at which an asset column's bytes are downloaded.
public enum AssetDownload: String, Hashable, Sendable {
    /// The bytes arrive with the row.
    case withRow
    /// The bytes are downloaded by ``CloudStore/downloadAssets(in:keys:)``; until then the column
    /// is NULL, and edits of the row do not remove the asset from the server.
    case onDemand
}

/// The database that holds a table's records.
public enum TableDatabase: Hashable, Sendable {
    /// The user's private database, with the records that others share with the user.
    case `private`
    /// The public database, which all users of the app share. It has no change feed: the store
    /// queries the records modified since its last query, and periodically all records, to find
    /// deleted ones.
    ///
    /// The record type needs an index on `modificationDate` (`___modTime`) and on `recordName`.
    case `public`
}
