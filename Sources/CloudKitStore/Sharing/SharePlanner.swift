import GRDB

/// A planner that collects the rows below a row and the targets of their references.
struct SharePlanner {
    private let database: Database
    private let mapping: RowMapping
    private let rows: RowStore
    private var plan = SharePlan()
    /// The rows of the tree.
    private var tree: [RowKey] = []
    private var seen: Set<RowKey> = []

    init(_ database: Database, _ mapping: RowMapping) {
        self.database = database
        self.mapping = mapping
        rows = RowStore(database: database, mapping: mapping)
    }

    private var catalog: TableCatalog { mapping.catalog }

    /// Returns the plan of sharing a row.
    ///
    /// - Throws: A ``CloudStoreError`` when there is no such row; an error of the database.
    mutating func plan(_ top: RowKey, _ table: TableSchema) throws -> SharePlan {
        guard try rows.row(top, table) != nil else {
            throw CloudStoreError(
                .noSuchRow,
                "The table '\(table.name)' has no row '\(top.text)'"
            )
        }
        try addTree(below: top)
        var missing: Set<RowKey> = []
        // A row that stays behind also keeps the rows that need it.
        var isDone = false
        while !isDone {
            isDone = true
            for key in tree where !missing.contains(key) {
                guard let reason = try reason(key, without: missing) else { continue }
                plan.excludedRows.append(reason)
                missing.insert(key)
                isDone = false
            }
        }
        for key in tree where !missing.contains(key) {
            plan.shared.append(SharePlan.Row(key))
            plan.hidden += try references(key, without: missing)
        }
        return plan
    }

    private mutating func addTree(below top: RowKey) throws {
        var next = [top]
        while let key = next.popLast() {
            guard seen.insert(key).inserted else { continue }
            tree.append(key)
            next += try rows.keys(below: key)
        }
    }

    /// Returns the first reference that keeps a row from the participants.
    private func reason(
        _ key: RowKey,
        without missing: Set<RowKey>
    ) throws -> SharePlan.Reference? {
        guard let table = catalog[key.table] else { return nil }
        return try references(key, without: missing).first { reference in
            reference.columns.allSatisfy { name in
                table.column(name).map { $0.isNotNull || $0.isKey } ?? false
            }
        }
    }

    /// Returns the references of a row to rows that participants will not have.
    private func references(
        _ key: RowKey,
        without missing: Set<RowKey>
    ) throws -> [SharePlan.Reference] {
        guard let table = catalog[key.table], let row = try rows.row(key, table) else { return [] }
        return try table.foreignKeys.compactMap { foreignKey in
            guard let parent = catalog[foreignKey.parent] else { return nil }
            let values = foreignKey.columns.map { row[$0] ?? .null }
            guard !values.contains(where: \.isNull),
                let found = try rows.rows(parent, where: foreignKey.parentColumns, are: values)
                    .first,
                let target = RowStore.key(found, parent),
                !seen.contains(target) || missing.contains(target)
            else { return nil }
            return SharePlan.Reference(
                row: SharePlan.Row(key),
                columns: foreignKey.columns,
                target: SharePlan.Row(target)
            )
        }
    }
}

extension SharePlan.Row {
    init(_ key: RowKey) {
        self.init(table: key.table, key: key.text)
    }
}
