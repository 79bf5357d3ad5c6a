import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB

/// Sending 10,000 rows that changed, against sending the same records by plain database calls.
enum Upload {
    private static let count = 10_000
    private static let zoneID = CKRecordZone.ID(zoneName: "CloudKitStore")

    static func benchmark(_ name: String, _ bar: Bar) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let device = try await StoreCloud(rows: count).syncedDevice()
            let plain = try await StoreCloud(rows: count).container.privateCloudDatabase
            var records = try await fetch(plain)
            var measured: [Comparison.Round] = []
            for round in 0..<rounds.count + 1 {
                // What the last round saved comes back, which is no part of sending.
                try await device.store.sync()
                let title = "The title of round \(round)"
                try await device.database.write { database in
                    try database.execute(sql: "UPDATE note SET title = ?", arguments: [title])
                }
                for record in records {
                    record["title"] = title
                    record["storeStamp"] = Self.stamp(round)
                }
                let start = ContinuousClock.now
                let summary = try await device.store.sync()
                let middle = ContinuousClock.now
                records = try await send(records, plain)
                let end = ContinuousClock.now
                guard summary.saved == count, records.count == count else { throw Unequal() }
                // The first warms up.
                guard round > 0 else { continue }
                measured.append(
                    Comparison.Round(
                        subject: (middle - start) / .seconds(count),
                        floor: (end - middle) / .seconds(count)
                    )
                )
            }
            return Comparison(subject: "CloudStore", floor: "modifyRecords", rounds: measured)
                .timeFigure
        }
    }

    /// What the store says in each record of its edits, which the other side sends as well.
    private static func stamp(_ round: Int) -> String {
        let others = "author,body,color,created,edited,isPinned,visits,weight"
        return "abcdefghij=\(round + 1_000_000_000);0.1000000000=\(others);"
            + "0.\(round + 1_000_000_000)=title"
    }

    private static func fetch(_ database: CKDatabase) async throws -> [CKRecord] {
        var records: [CKRecord] = []
        var token: CKServerChangeToken?
        var isComplete = false
        while !isComplete {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            records += try page.modificationResultsByID.values.map { try $0.get().record }
            token = page.changeToken
            isComplete = !page.moreComing
        }
        return records
    }

    /// As many in one request as the store sends.
    private static func send(
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
