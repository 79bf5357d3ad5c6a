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
            let records = users[0].batch.count * requests
            let bytes = (after.bytes - before.bytes) / Double(users.count)
            let rows = (after.rows - before.rows) / Double(users.count)
            return Figure(
                bytes / 1024,
                detail: "kilobytes and \(Figure(rows, detail: "").value) rows of a user with "
                    + "\(records) records more, after \(users.count) of them"
            )
        }
    }

    private func size(_ connection: FloorConnection) throws -> (bytes: Double, rows: Double) {
        let tables = ["database", "zone", "record", "index_entry", "reference", "asset", "sighting"]
        let bytes = tables.map { "pg_total_relation_size('public.\($0)')" }
        let rows = tables.map { "(SELECT count(*) FROM public.\($0))" }
        let found = try connection.libpq.rows(
            "SELECT \(bytes.joined(separator: " + ")), \(rows.joined(separator: " + "))"
        )
        var values = Values()
        for column in found[0] { values.append(column) }
        return (Double(values.number(0)), Double(values.number(1)))
    }
}
#endif
