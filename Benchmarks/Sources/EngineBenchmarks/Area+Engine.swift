public import BenchmarkHarness
import CloudKit
import CloudKitTesting
import Foundation

extension Area {
    /// Sends and fetches 10,000 records with a sync engine, compared to plain database calls.
    ///
    /// Both use a cloud in the same process, so that the network hides nothing.
    public static let engine = Area(name: "engine") {
        let full = try await FullCloud(records: recordCount)
        let send = Work("CKSyncEngine", units: Double(recordCount)) {
            let cloud = try await TestCloud()
            try await sendThroughEngine(cloud)
        }
        let plainSend = Work("modifyRecords", units: Double(recordCount)) {
            let cloud = try await TestCloud()
            try await sendPlainly(cloud)
        }
        let fetch = Work("CKSyncEngine", units: Double(recordCount)) {
            try await full.fetchThroughEngine()
        }
        let plainFetch = Work("recordZoneChanges", units: Double(recordCount)) {
            try await full.fetchPlainly()
        }
        return [
            .time("send-10000", .atMost(1.15), subject: send, floor: plainSend),
            .time("fetch-10000", .atMost(1.15), subject: fetch, floor: plainFetch),
            .peakMemory("memory-send-10000", .atMost(1.3)) { (send, plainSend) },
            .peakMemory("memory-fetch-10000", .atMost(1.3)) { (fetch, plainFetch) },
        ]
    }

    private static let recordCount = 10_000

    private static func sendThroughEngine(_ cloud: TestCloud) async throws {
        let device = try await cloud.device(of: try await cloud.addUser("Ada"))
        let delegate = BenchmarkDelegate()
        let engine = delegate.engine(of: device.privateCloudDatabase)
        engine.state.add(
            pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: BenchmarkDelegate.zoneID))]
        )
        engine.state.add(
            pendingRecordZoneChanges: BenchmarkDelegate.recordIDs(recordCount).map {
                .saveRecord($0)
            }
        )
        try await engine.sendChanges()
        guard engine.state.pendingRecordZoneChanges.isEmpty else { throw Unequal() }
    }

    private static func sendPlainly(_ cloud: TestCloud) async throws {
        let device = try await cloud.device(of: try await cloud.addUser("Ada"))
        let database = device.privateCloudDatabase
        try await FullCloud.fill(database, records: recordCount)
    }
}

/// An error that indicates that output and input differ.
struct Unequal: Error {}
