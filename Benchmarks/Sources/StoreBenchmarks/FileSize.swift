import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB

/// The size of the store's own tables in the file, in relation to the rows.
enum FileSize {
    /// Returns a benchmark of the device that sent the rows or the one that fetched them, whichever
    /// has the larger figure.
    static func benchmark(_ name: String, _ bar: Bar, rows: Int) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let cloud = try await TestCloud()
            let user = try await cloud.addUser("Ada")
            var sizes: [(who: String, rows: Int, own: Int)] = []
            var count = 0
            for who in ["sender", "receiver"] {
                let device = try await StoreDevice(
                    try await cloud.device(of: user),
                    schema: Chinook.schema,
                    tables: Chinook.tables.map { .table($0) }
                )
                if who == "sender" { try await Chinook.fill(device.database, rows: rows) }
                try await device.store.sync()
                try await device.store.sync()
                let found = try await Chinook.count(device.database)
                guard who == "sender" || found == count else { throw Unequal() }
                count = found
                sizes.append(
                    (
                        who, try await bytes(device, ofStore: false),
                        try await bytes(device, ofStore: true)
                    )
                )
            }
            let ratios = sizes.map { Double($0.own) / Double($0.rows) }
            let detail = sizes.map {
                "\($0.who) \(megabytes($0.own)) beside \(megabytes($0.rows)) of rows with their keys"
            }
            return Figure(
                ratios.max() ?? .nan,
                detail: "\(count) rows; " + detail.joined(separator: ", ")
            )
        }
    }

    /// Returns the size of the pages of the store's tables and indexes, or of the app's.
    private static func bytes(_ device: StoreDevice, ofStore: Bool) async throws -> Int {
        try await device.database.read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = TRUE AND name NOT LIKE 'sqlite_s%'
                        AND (instr(name, 'grdb_cloudkit_') > 0) = ?
                    """,
                arguments: [ofStore]
            ) ?? 0
        }
    }

    private static func megabytes(_ bytes: Int) -> String {
        "\((Double(bytes) / 100_000).rounded() / 10) MB"
    }
}
