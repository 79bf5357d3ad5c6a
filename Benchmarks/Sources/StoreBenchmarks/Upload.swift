import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Synchronization

/// Sends 10,000 changed rows, compared to sending the same records by plain database calls.
enum Upload {
    private static let count = 10_000
    static let zoneID = CKRecordZone.ID(zoneName: "CloudKitStore")

    static func benchmark(_ name: String, _ bar: Bar) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let cloud = try await StoreCloud(rows: count)
            let device = try await cloud.syncedDevice()
            let plain = try await StoreCloud(rows: count).container.privateCloudDatabase
            var known = try await fetch(plain)
            var measured: [Comparison.Round] = []
            for round in 0..<rounds.count + 1 {
                // The saves of the last round are fetched, which is not part of sending.
                try await device.store.sync()
                let title = "The title of round \(round)"
                try await device.database.write { database in
                    try database.execute(sql: "UPDATE note SET title = ?", arguments: [title])
                }
                let start = ContinuousClock.now
                let summary = try await device.store.sync()
                let sending = ContinuousClock.now - start
                let sent = try await fetch(cloud.container.privateCloudDatabase)
                let records = try renew(known, as: sent)
                let plainStart = ContinuousClock.now
                known = try await send(records, plain)
                let plainSending = ContinuousClock.now - plainStart
                guard summary.saved == count, known.count == count else { throw Unequal() }
                // The first warms up.
                guard round > 0 else { continue }
                measured.append(
                    Comparison.Round(
                        subject: sending / .seconds(count),
                        floor: plainSending / .seconds(count)
                    )
                )
            }
            return Comparison(subject: "CloudStore", floor: "modifyRecords", rounds: measured)
                .timeFigure
        }
    }

    /// Returns records with the edits that the store sent, in its order, because both affect the
    /// server's time.
    private static func renew(_ records: [CKRecord], as sent: [CKRecord]) throws -> [CKRecord] {
        let known = Dictionary(uniqueKeysWithValues: records.map { ($0.recordID, $0) })
        return try sent.map { sent in
            guard let record = known[sent.recordID] else { throw Unequal() }
            for field in ["title", "storeStamp"] { record[field] = sent[field] }
            return record
        }
    }

    /// Returns all records, in the order of their last changes.
    static func fetch(_ database: CKDatabase) async throws -> [CKRecord] {
        try await withCheckedThrowingContinuation { continuation in
            let records = Mutex<[CKRecord]>([])
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zoneID],
                configurationsByRecordZoneID: nil
            )
            operation.recordWasChangedBlock = { _, result in
                if case .success(let record) = result { records.withLock { $0.append(record) } }
            }
            operation.fetchRecordZoneChangesResultBlock = { result in
                continuation.resume(with: result.map { records.withLock { $0 } })
            }
            database.add(operation)
        }
    }

    /// Sends as many records per request as the store does.
    static func send(
        _ records: [CKRecord],
        _ database: CKDatabase
    ) async throws -> [CKRecord] {
        var saved: [CKRecord] = []
        for start in stride(from: 0, to: records.count, by: 200) {
            let results = try await database.modifyRecords(
                saving: Array(records[start..<min(start + 200, records.count)]),
                deleting: [],
                atomically: false
            )
            saved += try results.saveResults.values.map { try $0.get() }
        }
        return saved
    }
}
