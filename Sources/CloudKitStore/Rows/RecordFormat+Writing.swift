import CloudKit
import Foundation
import GRDB

extension RecordFormat {
    /// Returns the changes that a save sends: those of the row, and the fields that only the record has.
    ///
    /// - Parameters:
    ///   - changes: The row's changes by field.
    ///   - row: The row.
    ///   - base: The fields of the server's version.
    ///   - isNew: Whether the server has no version.
    ///   - table: The table.
    /// - Returns: The changes.
    /// - Throws: ``UnwritableRow`` for what the other client could not read.
    func outgoing(
        _ changes: [String: StoreValue],
        of row: StoredRow,
        over base: [String: StoreValue],
        isNew: Bool,
        _ table: TableSchema
    ) throws -> [String: StoreValue] {
        var outgoing = changes
        for (field, value) in changes {
            if let column = table.byField[field] { try check(value, column) }
        }
        switch content {
        case .link(let link): try check(outgoing, of: link, isNew: isNew)
        case .object(let kinds):
            if table.byField[kinds.field] == nil, isNew {
                outgoing[kinds.field] = .text(kinds.usual)
            }
            let object = ObjectCheck(kinds: kinds, table: table, row: row)
            try object.check(changes, over: base, isNew: isNew)
        }
        place(&outgoing, of: row, over: base, table)
        return outgoing
    }

    /// An error for a row that the other client could not read.
    struct UnwritableRow: Error, CustomStringConvertible {
        var description: String
    }

    private func check(
        _ changes: [String: StoreValue],
        of link: Link,
        isNew: Bool
    ) throws {
        let ends = link.ends.map { changes[$0.field] ?? .null }
        guard isNew else {
            throw UnwritableRow(
                description:
                    "a link leads to the same two rows always; delete it, and insert another"
            )
        }
        if ends.contains(where: \.isNull) {
            throw UnwritableRow(description: "a link needs both its rows; correct it")
        }
    }

    /// Checks that the record can have a value, and that the other client can read it.
    private func check(_ value: StoreValue, _ column: TableColumn) throws {
        guard let reason = column.notation?.problem(of: value) else { return }
        throw UnwritableRow(
            description: "what the column '\(column.name)' holds \(reason); correct it"
        )
    }

    // MARK: Large values

    /// Decides which changed values are assets, by adding the assets' fields.
    private func place(
        _ changes: inout [String: StoreValue],
        of row: StoredRow,
        over base: [String: StoreValue],
        _ table: TableSchema
    ) {
        let growing = changes.filter { companions[$0.key] != nil }
        guard !growing.isEmpty else { return }
        var used = 0
        for column in table.columns where growing[column.field] == nil {
            let isAsset = companions[column.field].map { !(base[$0] ?? .null).isNull } ?? false
            if !isAsset { used += row[column.name]?.size ?? 0 }
        }
        let assets = InlineValues.inAssets(growing.mapValues(\.size), besides: used)
        for (field, value) in growing {
            guard let companion = companions[field] else { continue }
            if assets.contains(field) {
                changes[companion] = .asset(AssetDigest(value.content))
            } else if !(base[companion] ?? .null).isNull {
                changes[companion] = .null
            }
        }
    }
}

extension RowMapping {
    /// Sets fields of a record whose format another client determines.
    ///
    /// - Parameters:
    ///   - changes: The changes, as ``RecordFormat/outgoing(_:of:over:isNew:_:)`` returns them.
    ///   - record: The record.
    ///   - table: The table.
    ///   - format: The format of the table's records.
    ///   - file: A closure that writes the content of an asset to a file; it returns nil where assets are left out.
    /// - Throws: The closure's error.
    func write(
        _ changes: [String: StoreValue],
        to record: CKRecord,
        _ table: TableSchema,
        as format: RecordFormat,
        file: (_ field: String, _ content: Data) throws -> URL?
    ) rethrows {
        if let link = format.link {
            let names = link.ends.compactMap { end -> String? in
                if case .reference(let name)? = changes[end.field] { name } else { nil }
            }
            guard names.count == 2 else { return }
            record[link.names] = names.joined(separator: ":")
            record[link.kinds] = link.ends.map { $0.kinds.first ?? "" }.joined(separator: ":")
            record[link.relations] = link.ends.map(\.relation).joined(separator: ":")
            return
        }
        var plain: [String: StoreValue] = [:]
        for (field, value) in changes {
            // The asset's own field says where the value is.
            if case .asset = value { continue }
            plain[field] = value
            if let companion = format.companions[field], case .asset? = changes[companion] {
                plain[field] = .null
                record[companion] = try file(companion, value.content).map { CKAsset(fileURL: $0) }
            } else if case .reference(let name) = value {
                plain[field] = .text(name)
            } else if format.notations[field] == .decimal, case .text(let text) = value,
                let number = RecordFormat.Notation.number(text)
            {
                plain[field] = .real(number)
            }
        }
        write(plain, to: record, table)
    }
}

extension StoreValue {
    /// The bytes of text or bytes.
    fileprivate var content: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .bytes(let data): data
        default: Data()
        }
    }

    /// The bytes that the value takes in a record.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let data): data.count
        case .null: 0
        default: 8
        }
    }
}

extension DatabaseValue {
    /// The bytes that the value takes in a record.
    fileprivate var size: Int {
        switch storage {
        case .string(let text): text.utf8.count
        case .blob(let data): data.count
        case .null: 0
        default: 8
        }
    }
}
