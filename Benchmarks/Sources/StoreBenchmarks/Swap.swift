import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB

/// Deletions of all rows and insertions of others with the same UNIQUE values, sent together: each
/// insertion looks for the deletion that frees its value.
enum Swap {
    /// Returns a benchmark of the time for a row, in relation to that with a tenth of the rows.
    static func benchmark(_ name: String, _ bar: Bar, rows: Int) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let small = try await secondsPerRow(rows / 10)
            let large = try await secondsPerRow(rows)
            return Comparison(
                subject: "\(rows) rows",
                floor: "\(rows / 10) rows",
                rounds: [Comparison.Round(subject: large, floor: small)]
            ).timeFigure
        }
    }

    private static func secondsPerRow(_ rows: Int) async throws -> Double {
        let cloud = try await TestCloud()
        let user = try await cloud.addUser("Ada")
        let device = try await StoreDevice(
            try await cloud.device(of: user),
            schema:
                "CREATE TABLE seat (id TEXT PRIMARY KEY NOT NULL, place INTEGER NOT NULL UNIQUE)",
            tables: [.table("seat")]
        )
        try await fill(device, rows, "a")
        try await device.store.sync()
        try await device.store.sync()
        try await device.database.write { try $0.execute(sql: "DELETE FROM seat") }
        try await fill(device, rows, "b")
        let start = ContinuousClock.now
        let summary = try await device.store.sync()
        let duration = ContinuousClock.now - start
        guard summary.saved == rows, summary.deleted == rows else { throw Unequal() }
        return duration / .seconds(rows)
    }

    private static func fill(_ device: StoreDevice, _ rows: Int, _ prefix: String) async throws {
        try await device.database.write { database in
            let statement = try database.cachedStatement(
                sql: "INSERT INTO seat VALUES (?, ?)"
            )
            for number in 0..<rows {
                try statement.execute(arguments: [Chinook.id(number, prefix), number])
            }
        }
    }
}
