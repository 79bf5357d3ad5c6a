/// A table that a store keeps in sync, and how.
///
/// ```swift
/// let tables: [SyncedTable] = [
///     .table("department"),
///     .table("employee", fieldRules: ["visits": .counter], encrypted: ["salary"]),
/// ]
/// ```
///
/// Columns, keys and foreign keys come from the live schema; only what the schema does not say is
/// declared here.
public struct SyncedTable: Sendable {
    /// The table's name in the database.
    public var name: String

    /// The type of its records; the table's name unless given.
    public var recordType: String

    /// What decides between two edits of one field.
    public var rule: MergeRule

    /// Rules of single columns, before ``rule``.
    public var fieldRules: [String: MergeRule]

    /// What happens to a row that one device deleted while another edited it.
    public var deletion: DeletionRule

    /// What becomes of a row that comes with the values of another in UNIQUE columns.
    public var uniqueness: UniqueRule

    /// What the records are named after.
    public var recordNames: RecordNames

    /// The columns whose bytes are sent as assets, and when they are downloaded.
    public var assets: [String: AssetDownload]

    /// The columns whose values are encrypted.
    public var encrypted: Set<String>

    /// The columns that never leave the device.
    public var localOnly: Set<String>

    /// The forms of columns whose declared type does not say enough.
    public var forms: [String: ColumnForm]

    /// The fields of columns that are named otherwise than their field.
    ///
    /// A column that was renamed keeps its field by an entry here, so that older versions of the
    /// app and this one go on sharing it.
    public var fields: [String: String]

    /// Whether the app gives out integer keys that mean the same row on every device.
    ///
    /// Leave it off where SQLite numbers the rows, with or without AUTOINCREMENT: two devices that are
    /// offline give one number to two rows, which are then one row with the fields of both.
    /// `Database.replaceIntegerKeys(in:preloaded:)` gives such tables keys of another kind.
    public var assignsIntegerKeys: Bool

    /// The column that refers to the row that a row is shared with; nil for the first reference with
    /// `ON DELETE CASCADE`, or else the first.
    public var parent: String?

    /// The app's triggers on the table that do not run while the store writes.
    ///
    /// A trigger that changes synced rows runs on the device where the user writes, and what it wrote
    /// travels. Where it runs for the store's writes too, devices differ. Full-text triggers have to
    /// run for all.
    public var suspendsTriggers: Set<String>

    /// The database of its records.
    public var database: TableDatabase

    /// Declares a table.
    ///
    /// - Parameters:
    ///   - name: The table's name in the database.
    ///   - recordType: The type of its records; the table's name unless given.
    ///   - rule: What decides between two edits of one field.
    ///   - fieldRules: Rules of single columns, before `rule`.
    ///   - deletion: What happens to a row that one device deleted while another edited it.
    ///   - uniqueness: What becomes of a row that comes with the values of another in UNIQUE columns.
    ///   - recordNames: What the records are named after; ``RecordNames/key`` for records that another
    ///     app writes too, which knows nothing of the store.
    ///   - assets: The columns whose bytes are sent as assets, and when they are downloaded.
    ///   - encrypted: The columns whose values are encrypted.
    ///   - localOnly: The columns that never leave the device.
    ///   - forms: The forms of columns whose declared type does not say enough.
    ///   - fields: The fields of columns that are named otherwise than their field.
    ///   - assignsIntegerKeys: Whether the app gives out integer keys that mean the same row on
    ///     every device. SQLite's own numbering gives one number to different rows on different
    ///     devices, so it is refused otherwise.
    ///   - parent: The column that refers to the row that a row is shared with; the first reference
    ///     with `ON DELETE CASCADE`, or else the first, unless given.
    ///   - suspendsTriggers: The app's triggers on the table that do not run while the store writes.
    ///   - database: The database of its records.
    /// - Returns: The declaration.
    public static func table(
        _ name: String,
        recordType: String? = nil,
        rule: MergeRule = .laterEdit,
        fieldRules: [String: MergeRule] = [:],
        deletion: DeletionRule = .editWins,
        uniqueness: UniqueRule = .firstStays,
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
