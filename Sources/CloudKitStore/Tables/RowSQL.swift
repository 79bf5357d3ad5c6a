/// The statements that find a table's rows, built once because they run for every row.
struct RowSQL: Sendable {
    /// `"key" = ? AND …`.
    let condition: String
    /// `SELECT columns FROM table WHERE `, to be followed by a condition.
    let selectWhere: String
    /// The statement that selects the row of a key.
    let select: String
    /// The statement that inserts a row with values for the other columns, followed by the key's.
    let insert: String
    /// The statement that deletes the row of a key.
    let delete: String

    init(table: String, columns: [TableColumn], keyColumns: [TableColumn]) {
        let list = columns.map(\.name.quoted).joined(separator: ", ")
        condition = keyColumns.map { "\($0.name.quoted) = ?" }.joined(separator: " AND ")
        selectWhere = "SELECT \(list) FROM \(table.quoted) WHERE "
        select = selectWhere + condition
        insert = Self.insert(
            columns.filter { !$0.isKey }.map(\.name) + keyColumns.map(\.name),
            into: table
        )
        delete = "DELETE FROM \(table.quoted) WHERE \(condition)"
    }

    /// Returns the statement that inserts a row with values for some columns.
    static func insert(
        _ columns: [String],
        marks: [String]? = nil,
        into table: String
    ) -> String {
        let marks = (marks ?? columns.map { _ in "?" }).joined(separator: ", ")
        return "INSERT INTO \(table.quoted) (\(columns.map(\.quoted).joined(separator: ", "))) "
            + "VALUES (\(marks))"
    }
}
