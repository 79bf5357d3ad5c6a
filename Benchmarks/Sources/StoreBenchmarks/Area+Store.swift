public import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB

extension Area {
    /// Compares `CloudKitStore` to its foundations: GRDB for local writes, plain database calls for
    /// requests.
    ///
    /// The cloud is in the same process, and its work counts as the store's.
    public static let store = Area(name: "store") {
        let full = Prepared { try await StoreCloud(rows: rowCount) }
        let small = Prepared { try await StoreCloud(rows: rowCount / 10) }
        return [
            .rate("first-sync-100000", .atLeast(0.4)) {
                (firstSync(try await full.value), inserts)
            },
            .peakMemory("memory-first-sync-100000", .atMost(1.3)) {
                (firstSync(try await full.value), firstSync(try await small.value))
            },
            TransactionTimer.longest("longest-transaction", .atMost(50), firstSyncOf: full),
            .time("tracked-writes", .atMost(2.0)) {
                (try await LocalWrites.tracked(), try await LocalWrites.plain())
            },
            .time("tracked-batch", .atMost(2.0)) {
                (try await LocalWrites.trackedBatch(), try await LocalWrites.plainBatch())
            },
            Upload.benchmark("upload-10000", .atMost(1.3)),
            FirstUpload.benchmark("first-upload-100000", .atMost(1.3), rows: rowCount),
            Echo.benchmark("first-echo-10000", .atMost(0.1), rows: 10_000),
            Swap.benchmark("unique-swap-100000", .atMost(2), rows: rowCount),
            FileSize.benchmark("file-size-100000", .atMost(0.8), rows: rowCount),
            .time("idle-sync-100000", .atMost(1.2)) {
                (try await idleSync(full.value), try await idleSync(StoreCloud(rows: 100)))
            },
            Opening.benchmark("open-100000", .atMost(30), full),
            Opening.growth("open-growth", .atMost(1.2), full, fewer: 1000),
        ]
    }

    private static let rowCount = 100_000

    private static func firstSync(_ cloud: StoreCloud) -> Work {
        Work("\(cloud.count) rows", units: Double(cloud.count)) {
            _ = try await cloud.syncedDevice()
        }
    }

    /// The inserts of an app that already has the rows.
    private static let inserts = Work("GRDB", units: Double(rowCount)) {
        try await DatabaseFile().insert(rowCount)
    }

    private static func idleSync(_ cloud: StoreCloud) async throws -> Work {
        let device = try await cloud.syncedDevice()
        return Work("\(cloud.count) rows") {
            let summary = try await device.store.sync()
            guard summary == SyncSummary() else { throw Unequal() }
        }
    }
}
