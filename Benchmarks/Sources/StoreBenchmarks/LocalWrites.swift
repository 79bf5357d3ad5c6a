import BenchmarkHarness
import CloudKit
import CloudKitTesting
import GRDB

/// An app's own writes: rows inserted, updated and deleted.
enum LocalWrites {
    private static let rows = 500

    /// Writes each row separately, as when a person edits.
    static func tracked() async throws -> Work {
        let device = try await device()
        return Work("tracked", units: Double(rows * 3)) { try await write(device.database, 1) }
    }

    static func plain() async throws -> Work {
        let file = try DatabaseFile()
        return Work("plain", units: Double(rows * 3)) { try await write(file.pool, 1) }
    }

    /// Writes all rows in one transaction, as when an app imports.
    static func trackedBatch() async throws -> Work {
        let device = try await device()
        return Work("tracked", units: Double(rows * 3)) { try await write(device.database, rows) }
    }

    static func plainBatch() async throws -> Work {
        let file = try DatabaseFile()
        return Work("plain", units: Double(rows * 3)) { try await write(file.pool, rows) }
    }

    private static func device() async throws -> StoreDevice {
        let cloud = try await TestCloud()
        return try await StoreDevice(try await cloud.device(of: try await cloud.addUser("Ada")))
    }

    private static func write(_ database: DatabasePool, _ batch: Int) async throws {
        for start in stride(from: 0, to: rows, by: batch) {
            try await database.write { database in
                for number in start..<start + batch { try BenchmarkRow(number).insert(database) }
            }
        }
        for start in stride(from: 0, to: rows, by: batch) {
            try await database.write { database in
                for number in start..<start + batch {
                    var row = BenchmarkRow(number)
                    row.title = "Another title"
                    try row.update(database, columns: ["title"])
                }
            }
        }
        for start in stride(from: 0, to: rows, by: batch) {
            try await database.write { database in
                for number in start..<start + batch { try BenchmarkRow(number).delete(database) }
            }
        }
    }
}
