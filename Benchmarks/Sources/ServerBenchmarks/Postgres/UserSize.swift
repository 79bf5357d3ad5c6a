#if PostgreSQL
import BenchmarkHarness
import CloudKitWebClient

extension PostgresBench {
    /// Measures the kilobytes that tables and indexes take for a user with 1,000 records of ten fields.
    var userSize: Benchmark {
        Benchmark(name: "user-1000", bar: .none) { _ in
            let connection = try FloorConnection(postgres.address)
            let before = try size(connection)
            let requests = 5
            for (place, user) in users.enumerated() {
                for request in 0..<requests {
                    let number = 80_000_000 + place * requests + request
                    _ = try await user.post(user.batch.body(number), to: user.url(.recordsModify))
                }
            }
            let after = try size(connection)
            let added = after.map { name, size in
                let former = before[name] ?? Size(bytes: 0, rows: 0)
                return (name, Size(bytes: size.bytes - former.bytes, rows: size.rows - former.rows))
            }.sorted { $0.1.bytes > $1.1.bytes }
            let tables = added.filter { $0.1.rows > 0 }.map { name, size in
                "\(name) \(size.rows / users.count) rows of \(size.bytes / size.rows) bytes"
            }
            let bytes = added.reduce(0) { $0 + $1.1.bytes }
            return Figure(
                Double(bytes) / Double(users.count) / 1024,
                detail: "kilobytes of \(users[0].batch.count * requests) records, in each of "
                    + "\(users.count) users: \(tables.joined(separator: ", "))"
            )
        }
    }

    /// The bytes of a table with its indexes, and the number of its rows.
    private struct Size {
        var bytes: Int
        var rows: Int
    }

    private func size(_ connection: FloorConnection) throws -> [String: Size] {
        let tables = [
            "database", "zone", "record", "index_entry", "reference", "asset", "sighting",
        ]
        var sizes: [String: Size] = [:]
        for table in tables {
            let found = try connection.libpq.rows(
                "SELECT pg_total_relation_size('public.\(table)'), count(*) FROM public.\(table)"
            )
            var values = Values()
            for column in found[0] { values.append(column) }
            sizes[table] = Size(bytes: Int(values.number(0)), rows: Int(values.number(1)))
        }
        return sizes
    }
}
#endif
