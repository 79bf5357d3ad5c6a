import Foundation
import GRDB

/// The check of an outgoing object against its kind, for what the other client could not read.
///
/// The rows of all kinds are in one table, which has the columns of all of them.
struct ObjectCheck {
    let kinds: RecordFormat.Kinds
    let table: TableSchema
    let row: StoredRow

    /// Checks the changes of the row.
    ///
    /// - Parameters:
    ///   - changes: The changes by field.
    ///   - base: The fields of the server's version.
    ///   - isNew: Whether the server has no version.
    /// - Throws: ``RecordFormat/UnwritableRow`` with the kind, the column and the remedy.
    func check(
        _ changes: [String: StoreValue],
        over base: [String: StoreValue],
        isNew: Bool
    ) throws {
        guard let kind = kinds.all[name] else {
            throw RecordFormat.UnwritableRow(
                description: "the column '\(column)' holds '\(name)', which is none of "
                    + "\(concrete); correct it"
            )
        }
        if kind.isAbstract {
            throw RecordFormat.UnwritableRow(
                description: "the entity '\(name)' is abstract, and no object can be of it; "
                    + (table.byField[kinds.field] == nil
                        ? "delete the row" : "set the column '\(column)' to one of \(concrete)")
            )
        }
        if !isNew, changes[kinds.field] != nil { try checkKept(base[kinds.field] ?? .null) }
        try check(changes, of: kind)
    }

    /// Checks that the row's kind is that of the server's version.
    private func checkKept(_ before: StoreValue) throws {
        let kind = before.isNull ? kinds.usual : before.string
        guard kind != name else { return }
        let was = kind.map { "was '\($0)' and is '\(name)'" } ?? "is now '\(name)'"
        let remedy = kind.map { "'\($0)'" } ?? "what it was"
        throw RecordFormat.UnwritableRow(
            description:
                "the column '\(column)' \(was), but an object keeps its entity; set it to \(remedy), or "
                + "delete the row and insert another with a key of its own"
        )
    }

    /// Checks that the kind has the fields with values.
    private func check(_ changes: [String: StoreValue], of kind: RecordFormat.Kind) throws {
        let foreign = changes.filter {
            $0.key != kinds.field && !$0.value.isNull && !kind.fields.contains($0.key)
        }
        guard let field = foreign.keys.min(), let column = table.byField[field] else { return }
        let owners = kinds.all.filter { $0.value.fields.contains(field) }.keys.sorted()
        throw RecordFormat.UnwritableRow(
            description: "the column '\(column.name)' holds a value, but it is of "
                + "\(owners.joined(separator: ", ")), and the row is of the entity '\(name)'; set it to NULL"
        )
    }

    /// The name of the row's kind.
    private var name: String {
        guard let column = table.byField[kinds.field] else { return kinds.usual }
        guard case .string(let name)? = row[column.name]?.storage else { return "" }
        return name
    }

    /// The name of the column with the kind.
    private var column: String { table.byField[kinds.field]?.name ?? "" }

    /// The names of the kinds that have objects.
    private var concrete: String {
        kinds.all.filter { !$0.value.isAbstract }.keys.sorted().joined(separator: ", ")
    }
}

extension RecordFormat.Notation {
    /// Returns why the other client could not read a value; nil when it can.
    func problem(of value: StoreValue) -> String? {
        switch (self, value) {
        case (_, .written): "is no value of its type"
        case (.decimal, .text(let text)) where Self.number(text) == nil: "is no number"
        case (.identifier, .text(let text)) where UUID(uuidString: text) == nil: "is no UUID"
        case (.address, .text(let text))
        where URL(string: text, encodingInvalidCharacters: false) == nil:
            "is no URI"
        case (.short, .integer(let number)) where Int16(exactly: number) == nil:
            "is beyond the numbers of 16 bits"
        case (.medium, .integer(let number)) where Int32(exactly: number) == nil:
            "is beyond the numbers of 32 bits"
        case (.flag, .integer(let number)) where number != 0 && number != 1:
            "is neither 0 nor 1"
        case (.single, .real(let number)) where !Float(number).isFinite:
            "is beyond the numbers of 32 bits"
        default: nil
        }
    }
}

extension StoreValue {
    /// The text; nil for other values.
    fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
}
