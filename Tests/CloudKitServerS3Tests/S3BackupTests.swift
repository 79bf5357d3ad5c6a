#if S3
import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Backups of clouds with assets in S3")
struct S3BackupTests {
    @Test("The archive has the assets, names a damaged one, and restores to files")
    func backup() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("s3-backup-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        // The folder is temporary.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fake = try FakeStorage()
        let storage = try SQLiteStorage(path: folder + "/cloud.sqlite")
        let cloud = try await FixtureCloud(storage: storage, assets: fake.storage)
        let bytes = AssetStorageConformance.bytes(250_000)
        try await Self.save(bytes, in: cloud)
        let archive = folder + "/backup.tar"
        var report = try await Backup(of: folder, assets: fake.storage)
            .write(to: archive, seconds: 1)
        #expect(report.isGood && report.assets == 1)
        let restored = folder + "/again"
        #expect(try await Restore(of: archive).run(into: restored).isGood)
        let files = try FileAssetStorage(directory: restored + "/assets")
        let checksum = try await fake.store(bytes).checksum
        #expect(try await AssetStorageConformance.read(checksum, files) == bytes)

        let key = try #require(fake.server.keys.first)
        for change in [{ $0[200_000] ^= 1 }, { $0.removeLast(100_000) }, { $0.removeAll() }]
            as [(inout Data) -> Void]
        {
            fake.server.change(key, change)
            report = try await Backup(of: folder, assets: fake.storage)
                .write(to: archive + "-2", seconds: 2)
            #expect(report.damaged.count == 1 && !report.isGood)
            // The archive itself is whole; only its new name may keep it.
            try FileManager.default.removeItem(atPath: archive + "-2")
            _ = try await fake.store(bytes)
        }
    }

    private static func save(_ bytes: Data, in cloud: FixtureCloud) async throws {
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let field = try await cloud.upload(bytes, for: "n1", as: ada)
        let response = try await cloud.call(
            "records/modify",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "n1", "recordType": "Note", "fields": ["photo": field],
                        ],
                    ]
                ],
            ]
        )
        #expect(response.status == 200)
    }
}
#endif
