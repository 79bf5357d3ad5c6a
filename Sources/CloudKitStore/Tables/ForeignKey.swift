/// A foreign key between synced tables.
struct ForeignKey: Hashable, Sendable {
    /// The action of SQLite on a row whose parent is deleted.
    enum Deletion: String, Sendable {
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case restrict = "RESTRICT"
        case noAction = "NO ACTION"
    }

    var columns: [String]
    var parent: String
    var parentColumns: [String]
    var deletion: Deletion
}
