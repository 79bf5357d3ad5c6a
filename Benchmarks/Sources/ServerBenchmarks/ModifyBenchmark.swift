import BenchmarkHarness
import CloudKitWebClient
import Foundation
import GRDB
import Synchronization

extension ServerBench {
    /// Sends one durable request with 200 new records.
    func modify() async throws -> Work {
        let counter = Counter()
        let url = url(.recordsModify)
        return Work("modify of 200 records over HTTP", units: Double(batch.count)) {
            _ = try await post(batch.body(counter.next()), to: url)
        }
    }

    /// Writes the rows of the same request with SQLite alone: the same tables and indexes, the same
    /// values, one durable transaction.
    ///
    /// The floor has no JSON, no HTTP, no tokens and no rules: it neither checks whether a record
    /// exists nor reads the zone.
    func rawInserts() async throws -> Work {
        _ = try await post(batch.body(99_999_999), to: url(.recordsModify))
        let rows = try RowTemplate(
            database: directory.appendingPathComponent("cloud.sqlite").path,
            prefix: NoteBatch.name(99_999_999)
        )
        let queue = try rows.emptyCopy(at: directory.appendingPathComponent("floor.sqlite").path)
        let counter = Counter()
        return Work("SQLite inserts of their rows", units: Double(batch.count)) {
            let number = counter.next()
            try await queue.write { try rows.insert(number, into: $0) }
        }
    }
}

/// A counter whose numbers never repeat.
final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}

/// The rows of one batch as the server wrote them, to be written again under other names.
private struct RowTemplate: Sendable {
    private struct Record: Sendable {
        let columns: [DatabaseValue]
        let nameSuffix: String
        let entries: [[DatabaseValue]]
    }

    private let schema: [String]
    private let records: [Record]

    init(database path: String, prefix: String) throws {
        let queue = try DatabaseQueue(path: path)
        (schema, records) = try queue.read { database in
            let tables = try String.fetchAll(
                database,
                sql: """
                    SELECT sql FROM sqlite_master
                    WHERE tbl_name IN ('record', 'indexEntry') AND sql IS NOT NULL
                    """
            )
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM record WHERE name LIKE ? ORDER BY sequence",
                arguments: [prefix + "%"]
            )
            let records = try rows.map { row in
                let entries = try Row.fetchAll(
                    database,
                    sql: "SELECT zone, number, key FROM indexEntry WHERE zone = ? AND record = ?",
                    arguments: [row["zone"], row["id"]]
                )
                let name: String = row["name"]
                return Record(
                    columns: Array(row.databaseValues),
                    nameSuffix: String(name.dropFirst(prefix.count)),
                    entries: entries.map { Array($0.databaseValues) }
                )
            }
            return (tables, records)
        }
        guard records.count == 200, records.allSatisfy({ !$0.entries.isEmpty }) else {
            throw BenchError(description: "\(records.count) rows with their index entries found")
        }
    }

    /// Creates a file with the same tables but without rows, as durable as the server's.
    func emptyCopy(at path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            for sql in schema { try database.execute(sql: sql) }
        }
        return queue
    }

    func insert(_ number: Int, into database: Database) throws {
        let marks = Array(repeating: "?", count: records[0].columns.count).joined(separator: ",")
        let record = try database.cachedStatement(sql: "INSERT INTO record VALUES (\(marks))")
        let entry = try database.cachedStatement(sql: "INSERT INTO indexEntry VALUES (?,?,?,?)")
        let name = NoteBatch.name(number)
        for (index, row) in records.enumerated() {
            let id = number * records.count + index
            var columns = row.columns
            columns[0] = id.databaseValue
            columns[2] = (name + row.nameSuffix).databaseValue
            columns[4] = id.databaseValue
            try record.execute(arguments: StatementArguments(columns))
            for values in row.entries {
                try entry.execute(arguments: StatementArguments(values + [id.databaseValue]))
            }
        }
    }
}
