import CloudKitBasics
import GRDB

/// The values that missing fields stand for, given to rows as they are written, where another client determines the
/// format: it takes a missing value for the default, so that NULL would be on this device alone.
///
/// A column has no default of its own where not all kinds of objects in its table have the field.
struct MissingDefaults {
    private let table: TableSchema
    private let kinds: RecordFormat.Kinds?

    init(_ table: TableSchema) {
        self.table = table
        kinds = table.format?.kinds
    }

    /// Returns the statements of a trigger that fill the row `NEW`.
    ///
    /// - Parameter old: The row before; a value that it lacked, too, stays NULL.
    /// - Returns: The statements; none where nothing has a default.
    func statements(after old: String? = nil) -> [String] {
        // An encrypted value may only be out of reach.
        table.columns.filter { !$0.isNotNull && !$0.isKey && !$0.isEncrypted }
            .compactMap { statement($0, after: old) }
    }

    private func statement(_ column: TableColumn, after old: String?) -> String? {
        guard let kinds else { return nil }
        let values = kinds.all.sorted { $0.key < $1.key }.compactMap { kind, description in
            description.defaults[column.field].flatMap(column.literal)
                .map { (kind: kind.literal, literal: $0) }
        }
        guard let first = values.first else { return nil }
        let name = column.name.quoted
        var conditions = table.keyColumns.map { "\($0.name.quoted) = NEW.\($0.name.quoted)" }
        conditions.append("\(name) IS NULL")
        var value = first.literal
        var wasFilled = old.map { "\($0).\(name) NOTNULL" }
        if let kind = table.byField[kinds.field]?.name.quoted {
            let cases = values.map { "WHEN \($0.kind) THEN \($0.literal)" }
            value = "CASE NEW.\(kind) \(cases.joined(separator: " ")) END"
            conditions.append("NEW.\(kind) IN (\(values.map(\.kind).joined(separator: ", ")))")
            // A kind that no object has is corrected; from one kind to another no object can go.
            let kinds = kinds.all.filter { !$0.value.isAbstract }.keys.sorted().map(\.literal)
            if let old {
                wasFilled?.append(" OR \(old).\(kind) NOT IN (\(kinds.joined(separator: ", ")))")
            }
        }
        if let wasFilled { conditions.append("(\(wasFilled))") }
        return """
            UPDATE \(table.name.quoted) SET \(name) = \(value)
                WHERE \(conditions.joined(separator: " AND "));
            """
    }
}

extension TableColumn {
    /// Returns a value as a literal of SQL in the column's form; nil for one that it cannot hold.
    fileprivate func literal(_ value: StoreValue) -> String? {
        // The model's default is of the attribute's type; another is left out.
        guard let written = try? value.databaseValue(for: self) else { return nil }
        return switch written.storage {
        case .null: nil
        case .int64(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : nil
        case .string(let text): text.hasNUL ? nil : text.literal
        case .blob(let data): "x'\(Hexadecimal.text(data))'"
        }
    }
}
