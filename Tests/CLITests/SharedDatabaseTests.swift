import CloudKit
import CloudKitExtras
import Foundation
import Testing

@Suite("The shared database from the shell")
struct SharedDatabaseTests {
    private func container(_ settings: [String: String]) throws -> CKContainer {
        CKContainer(
            client: WebClient(
                url: try #require(settings["CLOUDKIT_URL"]),
                container: try #require(settings["CLOUDKIT_CONTAINER"]),
                environment: .development,
                credentials: WebCredentials(
                    apiToken: try #require(settings["CLOUDKIT_API_TOKEN"]),
                    webAuthToken: settings["CLOUDKIT_WEB_AUTH_TOKEN"]
                )
            )
        )
    }

    /// Shares Ada's list with an item, and accepts the share for Bob.
    private func share(_ cloud: ServedCloud) async throws {
        let ada = try container(cloud.settings(of: "ada"))
        let zone = CKRecordZone(zoneName: "Lists")
        try await ada.privateCloudDatabase.save(zone)
        let root = CKRecord(
            recordType: "List",
            recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
        )
        let item = CKRecord(
            recordType: "Item",
            recordID: CKRecord.ID(recordName: "milk", zoneID: zone.zoneID)
        )
        item["title"] = "Milk"
        item.setParent(root)
        let share = CKShare(rootRecord: root)
        share.publicPermission = .readWrite
        let (results, _) = try await ada.privateCloudDatabase.modifyRecords(
            saving: [root, item, share],
            deleting: []
        )
        for record in [root, item, share] { _ = try results[record.recordID]?.get() }
        let bob = try container(cloud.settings(of: "bob"))
        try await bob.accept(try await bob.shareMetadata(for: try #require(share.url)))
    }

    @Test("What others share is listed, read, changed, exported and imported by its owner's name")
    func shared() async throws {
        try await ServedCloud.run { cloud in
            try await share(cloud)
            let zones = try await cloud.objects("zones", "list", "--database", "shared", as: "bob")
            let zone = try #require(zones.first?["zoneID"] as? [String: Any])
            let owner = try #require(zone["ownerRecordName"] as? String)
            let place = ["--database", "shared", "--zone", "Lists", "--owner", owner, "--json"]
            let bob = try cloud.settings(of: "bob")
            let read = try await CommandProcess.run(
                ["records", "get", "milk"] + place,
                settings: bob
            )
            #expect(read.status == 0, "\(read.errors)")
            let (file, assets) = (cloud.path("shared.jsonl"), cloud.path("assets"))
            let exported = try await cloud.objects(
                "export",
                file,
                "--assets",
                assets,
                "--database",
                "shared",
                as: "bob"
            )
            // The share is in the file too.
            #expect(exported.first?["records"] as? Int == 3)
            let save = [
                "records", "save", "--type", "Item", "--name", "milk", "--field", "title=Oats",
            ]
            let changed = try await CommandProcess.run(save + place, settings: bob)
            #expect(changed.status == 0, "\(changed.errors)")
            let imported = try await cloud.objects(
                "import",
                file,
                "--database",
                "shared",
                as: "bob"
            )
            #expect(imported.first?["records"] as? Int == 2)
            #expect(imported.first?["shares"] as? Int == 1)
            let mine = try await cloud.run("records", "get", "milk", "--zone", "Lists")
            #expect(mine.output.contains("Milk"))
            // Still shared: an import keeps data that it does not know.
            let again = try await CommandProcess.run(
                ["records", "get", "milk"] + place,
                settings: bob
            )
            #expect(again.status == 0, "\(again.errors)")
        }
    }

    @Test("A shared zone, imported elsewhere, has its records, and says that the share is left out")
    func elsewhere() async throws {
        try await ServedCloud.run { cloud in
            try await share(cloud)
            let (file, assets) = (cloud.path("lists.jsonl"), cloud.path("assets"))
            try await cloud.objects("export", file, "--assets", assets, "--zone", "Lists")
            let imported = try await cloud.run("import", file, as: "bob")
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(imported.errors.contains("1 share was left out: invite its people again"))
            let item = try await cloud.objects(
                "records",
                "get",
                "milk",
                "--zone",
                "Lists",
                as: "bob"
            )
            let parent = item.first?["parent"] as? [String: Any]
            #expect(parent?["recordName"] as? String == "list")
        }
    }
}
