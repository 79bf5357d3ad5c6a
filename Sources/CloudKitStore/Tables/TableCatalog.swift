import GRDB

/// The synced tables, read from the live schema and checked.
struct TableCatalog: Sendable {
    /// The tables, parents before children except in cycles.
    let tables: [TableSchema]
    private let byName: [String: TableSchema]
    private let byType: [String: TableSchema]
    /// The tables whose records' content decides whether they are theirs, by record type.
    private let byContent: [String: [TableSchema]]
    private let ranks: [String: Int]
    private let foreignKeysByParent: [String: [(child: String, key: ForeignKey)]]
    /// The tables whose rows, or whose cascading deletions, can be blocked by referring rows.
    private let held: Set<String>

    init(_ unordered: [TableSchema]) {
        tables = Self.ordered(unordered)
        byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        byType = Dictionary(tables.map { ($0.recordType, $0) }) { first, _ in first }
        byContent = Dictionary(grouping: tables.filter { $0.format != nil }, by: \.recordType)
        ranks = Dictionary(tables.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var children: [String: [(child: String, key: ForeignKey)]] = [:]
        for table in tables {
            for key in table.foreignKeys {
                children[key.parent, default: []].append((table.name, key))
            }
        }
        foreignKeysByParent = children
        held = Self.held(tables)
    }

    /// Reads the tables of a database.
    ///
    /// - Throws: A ``CloudStoreError`` for the first table that cannot be synced as declared.
    init(reading database: Database, _ declarations: [SyncedTable]) throws {
        var seen: Set<String> = []
        var types: Set<String> = []
        for declaration in declarations {
            guard seen.insert(declaration.name.lowercased()).inserted else {
                throw CloudStoreError(
                    .duplicateName,
                    "The table '\(declaration.name)' is declared twice; declare it once"
                )
            }
            let isLink = declaration.format?.link != nil
            guard types.insert(declaration.recordType).inserted || isLink else {
                throw CloudStoreError(
                    .duplicateName,
                    "Two tables have the record type '\(declaration.recordType)'; give '"
                        + "\(declaration.name)' another recordType"
                )
            }
        }
        let readers = try declarations.map { try TableReader(database, $0) }
        self.init(try readers.map { try $0.schema(among: readers) })
    }

    subscript(name: String) -> TableSchema? { byName[name] }

    func table(ofType type: String) -> TableSchema? { byType[type] }

    /// Returns the table of a record, from its fields with text; nil for a record that no table holds.
    func table(ofType type: String, holding text: (_ field: String) -> String?) -> TableSchema? {
        guard !byContent.isEmpty, let tables = byContent[type] else { return byType[type] }
        return tables.first { $0.format?.holds(text) == true }
    }

    /// The app's triggers that do not run while the store writes.
    var suspendedTriggers: [String] {
        tables.flatMap { $0.declaration.suspendsTriggers.sorted() }
    }

    /// `true` when any table is in the public database.
    var hasPublicTables: Bool { tables.contains(where: \.isPublic) }

    /// `true` when another client determines the format of any table's records.
    var hasFormats: Bool { !byContent.isEmpty }

    /// Returns the table's position in the order of tables, parents first.
    func rank(_ name: String) -> Int { ranks[name] ?? tables.count }

    /// Returns the foreign keys that refer to a table.
    func foreignKeys(to parent: String) -> [(child: String, key: ForeignKey)] {
        foreignKeysByParent[parent] ?? []
    }

    /// Returns whether referring rows can block the deletion of a table's row, or of a row that it
    /// cascades to.
    func isHeld(_ table: String) -> Bool { held.contains(table) }

    private static func held(_ tables: [TableSchema]) -> Set<String> {
        var held: Set<String> = []
        var count = -1
        while held.count != count {
            count = held.count
            for table in tables {
                for key in table.foreignKeys {
                    let holds =
                        switch key.deletion {
                        case .restrict, .noAction: true
                        case .cascade: held.contains(table.name)
                        default: false
                        }
                    if holds { held.insert(key.parent) }
                }
            }
        }
        return held
    }

    /// Returns the tables, parents before children; tables in a cycle keep the order of their
    /// declaration.
    private static func ordered(_ tables: [TableSchema]) -> [TableSchema] {
        var rest = tables
        var ordered: [TableSchema] = []
        var placed: Set<String> = []
        while !rest.isEmpty {
            let next =
                rest.firstIndex { table in
                    table.foreignKeys.allSatisfy {
                        $0.parent == table.name || placed.contains($0.parent)
                    }
                } ?? 0
            let table = rest.remove(at: next)
            placed.insert(table.name)
            ordered.append(table)
        }
        return ordered
    }
}
