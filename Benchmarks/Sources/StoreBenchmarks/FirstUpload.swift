import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting

/// Sends the rows of a new table for the first time, compared to saving the same new records by plain
/// database calls.
///
/// The floor's records exist before it starts, in the order of the store, and nothing is kept of
/// what the service returns.
enum FirstUpload {
    static func benchmark(_ name: String, _ bar: Bar, rows: Int) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            var measured: [Comparison.Round] = []
            for _ in 0..<min(rounds.count, 3) {
                let cloud = try await TestCloud()
                let user = try await cloud.addUser("Ada")
                let device = try await StoreDevice(try await cloud.device(of: user))
                try await device.insert(rows)
                let start = ContinuousClock.now
                let summary = try await device.store.sync()
                let sending = ContinuousClock.now - start
                let container = try await cloud.device(of: user)
                let sent = try await Upload.fetch(container.privateCloudDatabase)
                guard summary.saved == rows, sent.count == rows else { throw Unequal() }
                measured.append(
                    Comparison.Round(
                        subject: sending / .seconds(rows),
                        floor: try await save(copies(of: sent)) / .seconds(rows)
                    )
                )
            }
            return Comparison(subject: "CloudStore", floor: "modifyRecords", rounds: measured)
                .timeFigure
        }
    }

    /// Returns the time in which new records are saved in a cloud of their own.
    private static func save(_ records: [CKRecord]) async throws -> Duration {
        let cloud = try await TestCloud()
        let user = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: user).privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: Upload.zoneID))
        let start = ContinuousClock.now
        let saved = try await Upload.send(records, database)
        let saving = ContinuousClock.now - start
        guard saved.count == records.count else { throw Unequal() }
        return saving
    }

    /// Returns new records with the same names and fields.
    private static func copies(of records: [CKRecord]) -> [CKRecord] {
        records.map { record in
            let copy = CKRecord(recordType: record.recordType, recordID: record.recordID)
            for key in record.allKeys() { copy[key] = record[key] }
            for key in record.encryptedValues.allKeys() {
                copy.encryptedValues[key] = record.encryptedValues[key]
            }
            return copy
        }
    }
}
