import Foundation
import GRDB

/// The conversion of a store, which fills the tables of a new database on the same connection.
///
/// Only one row is kept in memory: all other data is in temporary tables.
struct StoreConversion {
    private let store: CoreDataStore
    private let database: Database
    private let tables: CoreDataTables
    private let options: CoreDataConversionOptions
    private(set) var report: CoreDataConversionReport

    init(
        _ store: CoreDataStore,
        _ database: Database,
        _ tables: CoreDataTables,
        _ options: CoreDataConversionOptions,
        _ report: CoreDataConversionReport
    ) {
        self.store = store
        self.database = database
        self.tables = tables
        self.options = options
        self.report = report
    }

    /// Returns the name of the temporary table with the record names of a root entity's rows.
    static func names(_ layout: StoreLayout, _ root: String) -> String {
        let place = layout.tables.firstIndex { $0.root.name == root } ?? 0
        return "coreDataName\(place)"
    }

    mutating func run() throws {
        try tables.createTables(in: database, schema: "app")
        database.add(function: Self.newName)
        defer { database.remove(function: Self.newName) }
        for table in store.layout.tables { try makeNames(table) }
        defer {
            for table in store.layout.tables {
                let name = Self.names(store.layout, table.root.name)
                // Temporary tables end with the connection.
                try? database.execute(sql: "DROP TABLE IF EXISTS temp.\(name.quotedName)")
            }
        }
        for table in store.layout.tables {
            guard let target = tables.table(ofRoot: table.root.name) else { continue }
            var rows = RowConversion(store, database, from: table, to: target, options, report)
            try rows.run()
            report = rows.report
        }
        for join in store.layout.joins {
            guard let target = joinTable(of: join) else { continue }
            try insertLinks(join, target)
        }
        for index in tables.indexes { try make(index) }
        if let zones = store.zones { try insertRecords(zones) }
        report.recordsWithoutRow = store.mirror?.entitiesOfRecordsWithoutRow ?? [:]
    }

    private func joinTable(of join: StoreLayout.Join) -> CoreDataTables.JoinTable? {
        tables.joins.first {
            $0.owner == join.owner && $0.relationship == join.relationship.name
        }
    }

    // MARK: Names

    private static let newName = DatabaseFunction(
        "core_data_new_name",
        argumentCount: 0,
        pure: false
    ) { _ in UUID().uuidString }

    private mutating func makeNames(_ table: StoreLayout.Table) throws {
        let name = Self.names(store.layout, table.root.name).quotedName
        try database.execute(
            sql: """
                CREATE TEMP TABLE \(name) (
                    pk INTEGER PRIMARY KEY, name TEXT NOT NULL, zone INTEGER, state TEXT)
                """
        )
        let source = "main.\(table.name.quotedName) t NOT INDEXED"
        guard store.mirror != nil else {
            try database.execute(
                sql: """
                    INSERT INTO temp.\(name)
                    SELECT Z_PK, core_data_new_name(), NULL, 'new' FROM \(source) ORDER BY Z_PK
                    """
            )
            if database.changesCount > 0 {
                report.createdRecords[table.root.name] = database.changesCount
            }
            return
        }
        try database.execute(
            sql: """
                INSERT INTO temp.\(name)
                SELECT t.Z_PK, coalesce(m.name, core_data_new_name()), m.zone,
                    coalesce(m.state, 'new')
                FROM \(source)
                LEFT JOIN temp.\(MirrorTables.records) m ON m.ent = t.Z_ENT AND m.pk = t.Z_PK
                ORDER BY t.Z_PK
                """
        )
        for entity in table.entities.values {
            report.createdRecords[entity.name] = store.mirror?.missingRecords[entity.name]
        }
    }

    // MARK: Links

    private mutating func insertLinks(
        _ join: StoreLayout.Join,
        _ target: CoreDataTables.JoinTable
    ) throws {
        let place = "\(join.owner).\(join.relationship.name)"
        let wrong = try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM main.\(join.table.quotedName) NOT INDEXED
                WHERE typeof(\(join.ownerColumn.quotedName)) <> 'integer'
                    OR typeof(\(join.targetColumn.quotedName)) <> 'integer'
                """
        )
        guard wrong == 0 else {
            throw CoreDataStoreError(.invalidRow, place, "a link in \(join.table) has no two rows")
        }
        let columns = target.columns.map(\.name.quotedName)
        let positions = try target.columns.dropFirst(3).map { try position(in: join, $0) }
        try database.execute(
            sql: """
                INSERT INTO app.\(target.name.quotedName) (\(columns.joined(separator: ", ")))
                SELECT \(recordName(of: join)), a.name, b.name
                    \(positions.map { ", \($0)" }.joined())
                FROM main.\(join.table.quotedName) j NOT INDEXED
                JOIN temp.\(Self.names(store.layout, join.ownerRoot)) a
                    ON a.pk = j.\(join.ownerColumn.quotedName)
                JOIN temp.\(Self.names(store.layout, join.targetRoot)) b
                    ON b.pk = j.\(join.targetColumn.quotedName)
                """
        )
        let inserted = database.changesCount
        report.rows[target.name] = inserted
        let all = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM main.\(join.table.quotedName) NOT INDEXED"
        )
        if let all, all > inserted { report.danglingLinks[place] = all - inserted }
        let minted = store.mirror == nil ? inserted : store.mirror?.missingRecords[place] ?? 0
        if minted > 0 { report.createdRecords[place] = minted }
    }

    /// Returns the SQL of a link's position, which is NULL where the store has none.
    private mutating func position(
        in join: StoreLayout.Join,
        _ target: CoreDataTables.Column
    ) throws -> String {
        var order = join.inverseOrderColumn
        if case .position(join.relationship.name) = target.content { order = join.orderColumn }
        guard let column = order?.quotedName else { return "NULL" }
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*), min(quote(\(column))) FROM main.\(join.table.quotedName) NOT INDEXED
                WHERE typeof(\(column)) NOT IN ('integer', 'null')
                """
        )
        if let row, let wrong = Int.fromDatabaseValue(row[0]), wrong > 0 {
            let place = "\(join.owner).\(target.name)"
            guard options.skipsUnreadableValues else {
                throw CoreDataStoreError(
                    .invalidRow,
                    place,
                    "\(wrong) positions in \(join.table) are no integers, such as "
                        + "\(String.fromDatabaseValue(row[1])?.prefix(60) ?? "")"
                )
                .addingSkipOption
            }
            report.skippedValues[place] = wrong
        }
        return "CASE typeof(j.\(column)) WHEN 'integer' THEN j.\(column) END"
    }

    /// Returns the SQL of the name of a link's record, which either end may have written.
    private func recordName(of join: StoreLayout.Join) -> String {
        guard store.mirror != nil else { return "core_data_new_name()" }
        func found(_ relationship: String, _ source: String, _ target: String) -> String {
            """
            (SELECT min(l.name) FROM temp.\(MirrorTables.links) l
                WHERE l.relation = \(relationship.literal) AND l.source = \(source).name
                AND l.target = \(target).name AND l.state <> 'deleted')
            """
        }
        return """
            coalesce(\(found(join.relationship.name, "a", "b")),
                \(found(join.inverse.name, "b", "a")), core_data_new_name())
            """
    }

    // MARK: Indexes and records

    private func make(_ index: CoreDataTables.Index) throws {
        do {
            try database.execute(sql: index.statement(schema: "app"))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw try constraintFailure(index, error)
        }
    }

    /// Returns the error for rows that have the same values in a constraint of the model.
    private func constraintFailure(
        _ index: CoreDataTables.Index,
        _ error: DatabaseError
    ) throws -> CoreDataStoreError {
        let place = [store.url.lastPathComponent, index.constraint ?? index.table]
            .joined(separator: ", ")
        let columns = index.columns.joined(separator: ", ")
        let values = index.columns.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT min(\(values)), count(*), group_concat(recordName, ', ')
                FROM app.\(index.table.quotedName) WHERE \(index.condition ?? "true")
                    AND \(index.columns.map { "\($0) NOTNULL" }.joined(separator: " AND "))
                GROUP BY \(columns) HAVING count(*) > 1 ORDER BY 2 DESC, 1 LIMIT 1
                """
        )
        guard let row = rows.first, let value = String.fromDatabaseValue(row[0]),
            let count = Int.fromDatabaseValue(row[1]),
            let names = String.fromDatabaseValue(row[2])
        else {
            return CoreDataStoreError(
                .invalidRow,
                place,
                "rows break this constraint of the model: \(StoreCopy.message(error))"
            )
        }
        return CoreDataStoreError(
            .invalidRow,
            place,
            "\(count) rows have the same value \(value.prefix(200)) where the model wants it once (their records: "
                + "\(names.prefix(300))); change or delete all but one in the app and copy the store again, or give a "
                + "model without the constraint"
        )
    }

    private func insertRecords(_ zones: [Int64: CoreDataMirror.Zone]) throws {
        let records = StoreRecordTables(database: database)
        try records.create()
        try records.insert(zones)
        for table in store.layout.tables {
            guard let target = tables.table(ofRoot: table.root.name) else { continue }
            try records.insertRows(
                of: table,
                named: target.name,
                Self.names(store.layout, table.root.name),
                deletesOthers: options.deletesRecordsWithoutRow
            )
        }
        for join in store.layout.joins {
            guard let target = joinTable(of: join) else { continue }
            try records.insertLinks(
                of: join,
                in: target,
                store.layout,
                deletesOthers: options.deletesRecordsWithoutRow
            )
        }
    }
}
