import Foundation
import GRDB

/// A reader of the rows in a root entity's table.
struct RowReader: Sendable {
    let table: StoreLayout.Table
    /// `true` when the store was mirrored.
    private let isMirrored: Bool
    private let values: StoredValueReader
    private let zones: [Int64: CoreDataMirror.Zone]

    init(
        _ table: StoreLayout.Table,
        _ files: ExternalData,
        zones: [Int64: CoreDataMirror.Zone]?
    ) {
        self.table = table
        isMirrored = zones != nil
        self.zones = zones ?? [:]
        values = StoredValueReader(files: files)
    }

    private static let fixedColumns = 4

    /// The SQL of the rows after a key, in order of keys.
    var sql: String {
        var columns = ["t.Z_PK", "t.Z_ENT"]
        columns += isMirrored ? ["m.name", "m.zone"] : ["NULL", "NULL"]
        columns += table.values.map { StoredValueReader.expression($0, of: "t") }
        columns += table.links.map { "t.\($0.column.quotedName)" }
        columns += table.links.map { $0.orderColumn.map { "t.\($0.quotedName)" } ?? "NULL" }
        let records =
            isMirrored
            ? "LEFT JOIN temp.\(MirrorTables.records) m ON m.ent = t.Z_ENT AND m.pk = t.Z_PK" : ""
        return """
            SELECT \(columns.joined(separator: ", "))
            FROM main.\(table.name.quotedName) t NOT INDEXED \(records)
            WHERE t.Z_PK > ? ORDER BY t.Z_PK
            """
    }

    /// Returns a row of that query, with its approximate size in bytes.
    func row(_ row: Row) throws -> (row: CoreDataRow, size: Int) {
        guard case .int64(let key) = (row[0] as DatabaseValue).storage else {
            throw CoreDataStoreError(.invalidRow, table.name, "a row has no key")
        }
        let (number, entity) = try entity(row[1], key)
        var found: [String: CoreDataValue] = [:]
        var size = 0
        var place = Self.fixedColumns
        for value in table.values {
            defer { place += 1 }
            guard value.numbers.contains(number) else { continue }
            let stored: DatabaseValue = row[place]
            do {
                found[value.key] = try values.value(stored, value)
            } catch {
                throw error.within("\(entity.name)/p\(key).\(value.key)")
            }
            if case .blob(let data) = stored.storage { size += data.count }
        }
        var links: [String: CoreDataObjectID] = [:]
        var positions: [String: Int64] = [:]
        for (offset, link) in table.links.enumerated() where link.numbers.contains(number) {
            let name = link.relationship.name
            let position = place + table.links.count + offset
            switch (row[place + offset] as DatabaseValue).storage {
            case .null: continue
            case .int64(let target): links[name] = CoreDataObjectID(root: link.target, key: target)
            default:
                throw CoreDataStoreError(
                    .invalidRow,
                    "\(entity.name)/p\(key).\(name)",
                    "its link is not a row's key"
                )
            }
            positions[name] = try CoreDataLink.position(
                row[position],
                at: "\(entity.name)/p\(key).\(name)"
            )
        }
        let result = CoreDataRow(
            id: CoreDataObjectID(root: table.root.name, key: key),
            entity: entity.name,
            values: found,
            links: links,
            positions: positions,
            record: record(row)
        )
        return (result, size)
    }

    private func entity(
        _ value: DatabaseValue,
        _ key: Int64
    ) throws -> (Int64, CoreDataModel.Entity) {
        guard case .int64(let number) = value.storage, let entity = table.entities[number] else {
            throw CoreDataStoreError(
                .invalidRow,
                "\(table.root.name)/p\(key)",
                "its entity is none of those in \(table.name)"
            )
        }
        return (number, entity)
    }

    private func record(_ row: Row) -> CoreDataMirror.Record? {
        guard case .string(let name) = (row[2] as DatabaseValue).storage else { return nil }
        var zone: CoreDataMirror.Zone?
        if case .int64(let key) = (row[3] as DatabaseValue).storage { zone = zones[key] }
        return CoreDataMirror.Record(name: name, zone: zone)
    }
}

extension CoreDataStoreError {
    /// Returns the error with a place that was unknown where it occurred.
    func within(_ place: String) -> Self {
        var error = CoreDataStoreError(
            code,
            self.place.isEmpty ? place : "\(place), \(self.place)",
            message
        )
        error.differences = differences
        return error
    }
}
