import CloudKit
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

@Suite("Assets in operations")
struct AssetOperationTests {
    private func file(_ bytes: Data) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try bytes.write(to: url)
        return url
    }

    /// The fractions that progress blocks report for each record.
    private final class Progress: Sendable {
        private let fractions = Mutex<[Double]>([])

        var all: [Double] { fractions.withLock { $0 } }

        func note(_ fraction: Double) {
            fractions.withLock { $0.append(fraction) }
        }
    }

    @Test(
        "Files go up and come down with progress that grows to 1, and the source stays",
        arguments: CloudFixture.allCases
    )
    func roundTrip(fixture: CloudFixture) async throws {
        let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let source = try file(bytes)
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            let record = CKRecord(recordType: "Photo")
            record["file"] = CKAsset(fileURL: source)
            record["both"] = [CKAsset(fileURL: source)]
            let up = Progress()
            let save = CKModifyRecordsOperation(recordsToSave: [record])
            save.perRecordProgressBlock = { _, fraction in up.note(fraction) }
            await finish([save], on: database)
            #expect(record.recordChangeTag != nil)
            #expect(up.all.last == 1)
            #expect(FileManager.default.fileExists(atPath: source.path))

            let down = Progress()
            let log = Log()
            let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
            fetch.perRecordProgressBlock = { _, fraction in down.note(fraction) }
            fetch.perRecordResultBlock = { _, result in
                let asset = try? result.get()["file"] as? CKAsset
                let found = asset.flatMap(\.fileURL).flatMap { try? Data(contentsOf: $0) }
                log.note(found == bytes ? "equal" : "different")
            }
            await finish([fetch], on: try await cloud.database(of: user))
            #expect(log.all.first == "equal")
            #expect(down.all.last == 1 && down.all == down.all.sorted())
        }
    }

    @Test(
        "A missing file fails its record alone, and names record and field",
        arguments: CloudFixture.allCases
    )
    func missing(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let good = CKRecord(recordType: "Photo")
            let bad = CKRecord(
                recordType: "Photo",
                recordID: CKRecord.ID(recordName: "bad")
            )
            bad["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/photo.jpg"))
            let (results, _) = try await database.modifyRecords(saving: [good, bad], deleting: [])
            _ = try #require(results[good.recordID]).get()
            let error = await expectCKError(.assetFileNotFound) {
                try #require(results[bad.recordID]).get()
            }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("bad") && text.contains("file"), "\(text)")
        }
    }

    @Test(
        "Files come with changes too, and stay away where desiredKeys leave them out",
        arguments: CloudFixture.allCases
    )
    func changes(fixture: CloudFixture) async throws {
        let source = try file(Data("photo".utf8))
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zone = try await database.save(CKRecordZone(zoneName: "Photos"))
            let record = CKRecord(
                recordType: "Photo",
                recordID: CKRecord.ID(recordName: "p", zoneID: zone.zoneID)
            )
            record["file"] = CKAsset(fileURL: source)
            record["title"] = "sea"
            try await database.save(record)
            let whole = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
            let changed = try whole.modificationResultsByID[record.recordID]?.get().record
            let asset = try #require(changed?["file"] as? CKAsset)
            #expect(try Data(contentsOf: #require(asset.fileURL)) == Data("photo".utf8))

            let part = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: nil,
                desiredKeys: ["title"]
            )
            let without = try part.modificationResultsByID[record.recordID]?.get().record
            #expect(without?.allKeys() == ["title"])
            let fetched = try await database.records(for: [record.recordID], desiredKeys: [])
            #expect(try fetched[record.recordID]?.get().allKeys() == [])
        }
    }

    @Test("The server's record of a conflict has no files", arguments: CloudFixture.allCases)
    func conflict(fixture: CloudFixture) async throws {
        let source = try file(Data("x".utf8))
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let first = try await cloud.database(of: user)
            let id = CKRecord.ID(recordName: "p")
            let record = CKRecord(recordType: "Photo", recordID: id)
            record["file"] = CKAsset(fileURL: source)
            try await first.save(record)
            let second = try await cloud.database(of: user)
            let error = await expectCKError(.serverRecordChanged) {
                try await second.save(CKRecord(recordType: "Photo", recordID: id))
            }
            let asset = try #require(error?.serverRecord?["file"] as? CKAsset)
            #expect(asset.fileURL == nil)
        }
    }
}
