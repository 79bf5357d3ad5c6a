import Foundation
import GRDB

/// The conversion of the rows of one table.
struct RowConversion {
    /// The source of a column's value.
    private enum Source {
        case name
        case entity
        case value(Int)
        case link(Int)
        case position(Int)
        case none
    }

    /// The results of the link query that are not names.
    private enum Link {
        static let dangling: Int64 = 0
        static let invalid: Int64 = 1
    }

    private static let fixedColumns = 3

    private let database: Database
    private let source: StoreLayout.Table
    private let target: CoreDataTables.Table
    private let options: CoreDataConversionOptions
    private let values: StoredValueReader
    private let names: (String) -> String
    /// The sources of the columns' values, for the rows of each entity.
    private var sources: [Int64: [Source]] = [:]
    /// The number of values beyond the attribute's bits, by entity and attribute.
    private var oversized: [String: Int] = [:]
    private(set) var report: CoreDataConversionReport

    init(
        _ store: CoreDataStore,
        _ database: Database,
        from source: StoreLayout.Table,
        to target: CoreDataTables.Table,
        _ options: CoreDataConversionOptions,
        _ report: CoreDataConversionReport
    ) {
        self.database = database
        self.source = source
        self.target = target
        self.options = options
        self.report = report
        values = StoredValueReader(files: store.files)
        let layout = store.layout
        names = { "temp.\(StoreConversion.names(layout, $0))" }
        let values = Dictionary(grouping: source.values.indices) { source.values[$0].key }
        let links = Dictionary(grouping: source.links.indices) {
            source.links[$0].relationship.name
        }
        for (number, entity) in source.entities {
            let line = (store.model.ancestors(of: entity) + [entity]).map(\.name)
            sources[number] = target.columns.map { column in
                self.source(of: column, Set(line), values, links)
            }
        }
    }

    /// Returns the source of a column's value, for rows of an entity with some ancestors.
    ///
    /// The parameters include the positions of values and links by property name.
    private func source(
        of column: CoreDataTables.Column,
        _ line: Set<String>,
        _ values: [String: [Int]],
        _ links: [String: [Int]]
    ) -> Source {
        func isOwn(_ owner: String) -> Bool {
            column.owners.contains(owner) && line.contains(owner)
        }
        func link(_ name: String) -> Int? {
            links[name]?.first { isOwn(source.links[$0].owner) }
        }
        switch column.content {
        case .recordName: return .name
        case .entity: return .entity
        case .value(_, let path):
            let place = values[path]?.first { isOwn(source.values[$0].owner) }
            return place.map(Source.value) ?? .none
        case .link(let name, _): return link(name).map(Source.link) ?? .none
        case .position(let name): return link(name).map(Source.position) ?? .none
        }
    }

    private var query: String {
        var columns = ["t.Z_PK", "t.Z_ENT", "n.name"]
        columns += source.values.map { StoredValueReader.expression($0, of: "t") }
        columns += source.links.map { link in
            let column = "t.\(link.column.quotedName)"
            return """
                CASE typeof(\(column)) WHEN 'null' THEN NULL WHEN 'integer' THEN coalesce(
                    (SELECT name FROM \(names(link.target)) WHERE pk = \(column)),
                    \(Link.dangling)) ELSE \(Link.invalid) END
                """
        }
        columns += source.links.map { $0.orderColumn.map { "t.\($0.quotedName)" } ?? "NULL" }
        return """
            SELECT \(columns.joined(separator: ", "))
            FROM main.\(source.name.quotedName) t NOT INDEXED
            JOIN \(names(source.root.name)) n ON n.pk = t.Z_PK
            ORDER BY t.Z_PK
            """
    }

    private var insertion: String {
        let columns = target.columns.map(\.name.quotedName).joined(separator: ", ")
        let marks = target.columns.map { column in
            if case .value(.string, _) = column.content { return "CAST(? AS TEXT)" }
            if case .value(.uri, _) = column.content { return "CAST(? AS TEXT)" }
            return "?"
        }
        return """
            INSERT INTO app.\(target.name.quotedName) (\(columns))
            VALUES (\(marks.joined(separator: ", ")))
            """
    }

    mutating func run() throws {
        let insertion = try database.makeStatement(sql: insertion)
        let rows = try Row.fetchCursor(database, sql: query)
        var count = 0
        while let row = try rows.next() {
            try insertion.setArguments(StatementArguments(try arguments(row)))
            do {
                try insertion.execute()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                throw try repeatedRecord(row, error)
            }
            count += 1
        }
        report.rows[target.name] = count
        for (place, count) in oversized.sorted(by: { $0.key < $1.key }) {
            report.notes.append(
                "\(place): \(count) of its values are beyond the bits of its type, which the app could not have saved; "
                    + "they are converted as they are, and do not sync until they are corrected"
            )
        }
    }

    /// Returns the error for a row whose record is that of an earlier row.
    private func repeatedRecord(
        _ row: Row,
        _ error: DatabaseError
    ) throws -> CoreDataStoreError {
        let (key, name): (DatabaseValue, DatabaseValue) = (row[0], row[2])
        let other = try DatabaseValue.fetchOne(
            database,
            sql: "SELECT min(pk) FROM \(names(source.root.name)) WHERE name = ? AND pk <> ?",
            arguments: [name, key]
        )
        guard let other, !other.isNull else {
            return CoreDataStoreError(
                .invalidRow,
                "\(source.root.name)/p\(key)",
                "the row does not fit the table: \(StoreCopy.message(error))"
            )
        }
        return CoreDataStoreError(
            .invalidRow,
            "\(source.root.name)/p\(key)",
            "it has the same record \(name) as \(source.root.name)/p\(other); open the store with the app until it has "
                + "synced, or delete one of the two objects in the app, and copy the store again"
        )
    }

    // MARK: Rows

    private mutating func arguments(_ row: Row) throws -> [DatabaseValue] {
        guard case .int64(let number) = (row[1] as DatabaseValue).storage,
            let sources = sources[number], let entity = source.entities[number]
        else {
            throw CoreDataStoreError(
                .invalidRow,
                "\(source.root.name)/p\(row[0] as DatabaseValue)",
                "its entity is none of those in \(source.name)"
            )
        }
        var arguments: [DatabaseValue] = []
        arguments.reserveCapacity(sources.count)
        for (place, source) in sources.enumerated() {
            switch source {
            case .name: arguments.append(row[2])
            case .entity: arguments.append(entity.name.databaseValue)
            case .value(let index): arguments.append(try value(index, place, row, entity))
            case .link(let index): arguments.append(try link(index, row, entity))
            case .position(let index):
                arguments.append(try position(index, place, row, entity))
            case .none:
                arguments.append(target.columns[place].defaultValue?.bound ?? .null)
            }
        }
        return arguments
    }

    private mutating func value(
        _ index: Int,
        _ place: Int,
        _ row: Row,
        _ entity: CoreDataModel.Entity
    ) throws -> DatabaseValue {
        let stored: DatabaseValue = row[Self.fixedColumns + index]
        let value = source.values[index]
        var found: DatabaseValue
        do {
            found = try convert(stored, value)
        } catch {
            guard options.skipsUnreadableValues else {
                throw error.within("\(entity.name)/p\(row[0] as DatabaseValue).\(value.key)")
                    .addingSkipOption
            }
            report.skippedValues["\(value.owner).\(value.key)", default: 0] += 1
            found = .null
        }
        if value.attribute.type.isExceeded(by: found) {
            oversized["\(value.owner).\(value.key)", default: 0] += 1
        }
        if found.isNull, let missing = target.columns[place].defaultValue?.bound {
            report.filledValues["\(value.owner).\(value.key)", default: 0] += 1
            found = missing
        }
        return found
    }

    /// Returns a value in its column's form; text as bytes, which the insertion converts to text.
    private func convert(
        _ stored: DatabaseValue,
        _ value: StoreLayout.Value
    ) throws(CoreDataStoreError) -> DatabaseValue {
        switch (value.attribute.type, stored.storage) {
        case (_, .null): return stored
        case (.integer16, .int64), (.integer32, .int64), (.integer64, .int64), (.double, .double),
            (.float, .double):
            return stored
        default: break
        }
        guard let read = try values.value(stored, value) else { return .null }
        guard let bound = read.bound else {
            throw CoreDataStoreError(
                .invalidRow,
                "",
                "its date is in a year that the database's form of dates does not have"
            )
        }
        return bound
    }

    private mutating func position(
        _ index: Int,
        _ place: Int,
        _ row: Row,
        _ entity: CoreDataModel.Entity
    ) throws -> DatabaseValue {
        let before = Self.fixedColumns + source.values.count + source.links.count
        let found: DatabaseValue = row[before + index]
        switch found.storage {
        case .null, .int64: return found
        default: break
        }
        let name = target.columns[place].name
        guard options.skipsUnreadableValues else {
            throw CoreDataStoreError.noPosition(
                found,
                at: "\(entity.name)/p\(row[0] as DatabaseValue).\(name)"
            )
            .addingSkipOption
        }
        report.skippedValues["\(source.links[index].owner).\(name)", default: 0] += 1
        return .null
    }

    private mutating func link(
        _ index: Int,
        _ row: Row,
        _ entity: CoreDataModel.Entity
    ) throws -> DatabaseValue {
        let found: DatabaseValue = row[Self.fixedColumns + source.values.count + index]
        guard case .int64(let mark) = found.storage else { return found }
        let link = source.links[index]
        guard mark == Link.dangling else {
            throw CoreDataStoreError(
                .invalidRow,
                "\(entity.name)/p\(row[0] as DatabaseValue).\(link.relationship.name)",
                "its link is not a row's key"
            )
        }
        report.danglingLinks["\(link.owner).\(link.relationship.name)", default: 0] += 1
        return .null
    }
}

extension CoreDataModel.AttributeType {
    /// Returns whether a number has more bits than values of the type.
    fileprivate func isExceeded(by value: DatabaseValue) -> Bool {
        switch (self, value.storage) {
        case (.integer16, .int64(let number)): Int16(exactly: number) == nil
        case (.integer32, .int64(let number)): Int32(exactly: number) == nil
        case (.float, .double(let number)): number.isFinite && !Float(number).isFinite
        default: false
        }
    }
}

extension CoreDataStoreError {
    /// The error with the option that converts the value as NULL.
    var addingSkipOption: Self {
        adding(
            "The conversion can make such values NULL and count them, in the command with "
                + "--skip-unreadable"
        )
    }
}

extension CoreDataValue {
    /// The value to bind: text of strings and URIs as bytes, because GRDB's text ends at a NUL.
    fileprivate var bound: DatabaseValue? {
        switch self {
        case .string(let text), .uri(let text): Data(text.utf8).databaseValue
        default: columnValue
        }
    }
}
