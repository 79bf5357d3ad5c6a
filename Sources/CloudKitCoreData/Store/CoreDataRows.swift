import GRDB

/// The rows of an entity, read on request.
///
/// ```swift
/// for row in try store.rows(of: "Note") {
///     let note = try row.get()
///     print(note.values["title"] as Any)
/// }
/// ```
///
/// At most a few hundred rows are in memory. An error ends the sequence.
public struct CoreDataRows: Sequence, Sendable {
    /// An iterator over the rows.
    public struct Iterator: IteratorProtocol {
        fileprivate var pages: StorePages<CoreDataRow>
        fileprivate let entities: Set<String>

        /// Returns the next row, or the error that ends the rows.
        public mutating func next() -> Result<CoreDataRow, CoreDataStoreError>? {
            while let row = pages.next() {
                if case .success(let row) = row, !entities.contains(row.entity) { continue }
                return row
            }
            return nil
        }
    }

    let copy: StoreCopy
    let reader: RowReader
    let entities: Set<String>

    /// Returns an iterator that starts with the first row.
    public func makeIterator() -> Iterator {
        Iterator(
            pages: StorePages(copy: copy, sql: reader.sql) { row in
                let (value, size) = try reader.row(row)
                return (value.id.key, value, size)
            },
            entities: entities
        )
    }
}

/// The links of a many-to-many relationship, read on request.
///
/// An error ends the sequence.
public struct CoreDataLinks: Sequence, Sendable {
    /// An iterator over the links.
    public struct Iterator: IteratorProtocol {
        fileprivate var pages: StorePages<CoreDataLink>

        /// Returns the next link, or the error that ends the links.
        public mutating func next() -> Result<CoreDataLink, CoreDataStoreError>? { pages.next() }
    }

    let copy: StoreCopy
    let join: StoreLayout.Join
    /// `true` when the relationship is the inverse one.
    let isInverse: Bool

    /// Returns an iterator that starts with the first link.
    public func makeIterator() -> Iterator {
        let join = join
        let source = (isInverse ? join.targetColumn : join.ownerColumn)
        let target = (isInverse ? join.ownerColumn : join.targetColumn)
        let order = isInverse ? join.inverseOrderColumn : join.orderColumn
        let (sourceRoot, targetRoot) =
            isInverse ? (join.targetRoot, join.ownerRoot) : (join.ownerRoot, join.targetRoot)
        let sql = """
            SELECT rowid, \(source.quotedName), \(target.quotedName),
                \(order?.quotedName ?? "NULL")
            FROM main.\(join.table.quotedName) NOT INDEXED WHERE rowid > ? ORDER BY rowid
            """
        return Iterator(
            pages: StorePages(copy: copy, sql: sql) { row in
                guard case .int64(let key) = (row[0] as DatabaseValue).storage,
                    case .int64(let source) = (row[1] as DatabaseValue).storage,
                    case .int64(let target) = (row[2] as DatabaseValue).storage
                else {
                    throw CoreDataStoreError(.invalidRow, join.table, "a link has no two rows")
                }
                let position = try CoreDataLink.position(row[3], at: "\(join.table), row \(key)")
                let link = CoreDataLink(
                    source: CoreDataObjectID(root: sourceRoot, key: source),
                    target: CoreDataObjectID(root: targetRoot, key: target),
                    position: position
                )
                return (key, link, 0)
            }
        )
    }
}

extension CoreDataLink {
    /// Returns the position among the objects of an ordered relationship; nil when there is none.
    static func position(
        _ value: DatabaseValue,
        at place: String
    ) throws(CoreDataStoreError) -> Int64? {
        switch value.storage {
        case .null: return nil
        case .int64(let number): return number
        default: throw .noPosition(value, at: place)
        }
    }
}

extension CoreDataStoreError {
    /// Returns the error for a position that is no integer.
    static func noPosition(_ value: DatabaseValue, at place: String) -> Self {
        Self(.invalidRow, place, "its position \(value.summary) is no integer")
    }
}

/// The results of a query in pages of a few hundred rows, each starting after the last key.
struct StorePages<Value> {
    private static var mostRows: Int { 500 }
    private static var mostBytes: Int { 4 << 20 }

    private let copy: StoreCopy
    private let sql: String
    private let read: (Row) throws -> (key: Int64, value: Value, size: Int)
    private var last: Int64?
    private var page: [Value] = []
    private var place = 0
    private var isAtEnd = false

    init(
        copy: StoreCopy,
        sql: String,
        read: @escaping (Row) throws -> (key: Int64, value: Value, size: Int)
    ) {
        self.copy = copy
        self.sql = sql
        self.read = read
    }

    mutating func next() -> Result<Value, CoreDataStoreError>? {
        while place == page.count {
            if isAtEnd { return nil }
            do {
                try turn()
            } catch {
                isAtEnd = true
                page = []
                place = 0
                return .failure(CoreDataStoreError(error, copy.name))
            }
        }
        place += 1
        return .success(page[place - 1])
    }

    private mutating func turn() throws {
        page.removeAll(keepingCapacity: true)
        place = 0
        let start = last ?? Int64.min
        (page, last, isAtEnd) = try copy.database.read { database in
            var (page, last): ([Value], Int64?) = ([], nil)
            var size = 0
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: sql),
                arguments: [start]
            )
            while let row = try rows.next() {
                let found = try read(row)
                if found.key <= start {
                    throw CoreDataStoreError(.unreadable, copy.name, "its rows are in no order")
                }
                page.append(found.value)
                last = found.key
                size += found.size
                if page.count >= Self.mostRows || size >= Self.mostBytes {
                    return (page, last, false)
                }
            }
            return (page, last, true)
        }
    }
}
