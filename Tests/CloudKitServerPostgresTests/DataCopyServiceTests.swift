#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "Services on copied data",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct DataCopyServiceTests {
    private static let container = FixtureCloud.container

    /// A client that has seen a part of a cloud.
    private struct Client {
        var user: FixtureCloud.User
        var apiToken: String
        /// The place in the feed after two of the records.
        var token: JSON
        /// The place in a query after two of the results.
        var marker: JSON
        var tag: JSON

        /// Sends a request with the client's own tokens.
        func call(_ cloud: FixtureCloud, _ endpoint: String, _ body: JSON) async throws -> JSON {
            let response = try await cloud.send(
                ConformanceRequest(
                    method: "POST",
                    path: "/database/1/\(container)/development/private/\(endpoint)",
                    query: "ckAPIToken=\(apiToken)&ckWebAuthToken="
                        + FixtureCloud.escape(user.token),
                    body: JSONEncoder().encode(body)
                )
            )
            try #require(response.status == 200, "\(endpoint): \(response)")
            return response.body
        }

        private var container: String { DataCopyServiceTests.container }

        func changes(_ cloud: FixtureCloud, after token: JSON) async throws -> JSON {
            try await call(
                cloud,
                "changes/zone",
                ["zones": [["zoneID": FixtureCloud.zone("Notes"), "syncToken": token]]]
            ).zones[0]
        }

        func names(_ zone: JSON) -> [String] {
            zone.records.elements.compactMap(\.recordName.text).sorted()
        }
    }

    /// Opens a storage with a service of its own.
    private static func cloud(
        _ storage: any Storage,
        _ assets: any AssetStorage
    ) async throws -> FixtureCloud {
        try await FixtureCloud(storage: storage, assets: assets)
    }

    private static let query: JSON = [
        "recordType": "Note", "sortBy": [["fieldName": "rank", "ascending": true]],
    ]

    /// Fills a cloud as an app does; returns a client of it.
    private static func fill(_ cloud: FixtureCloud) async throws -> Client {
        let user = try await cloud.addUser(emailAddress: "ada@example.com")
        try await cloud.addZone("Notes", as: user)
        try await cloud.addZone("Old", as: user)
        let photo = try await cloud.upload(Data("a photo".utf8), for: "n1", as: user)
        let saved = try await cloud.modify(
            as: user,
            (1...5).map { number in
                var fields: [String: JSON] = [
                    "rank": ["value": .int(Int64(number))],
                    "text": ["value": .string("Text \u{0} 🦊 \(number)")],
                ]
                if number == 1 { fields["photo"] = photo }
                return FixtureCloud.note("create", "n\(number)", .object(fields))
            }
        )
        try #require(saved.records.allSatisfy { $0.serverErrorCode == .null }, "\(saved)")
        try await cloud.service.takeSnapshot("five", of: container)
        // The snapshot has other rows then, and the photo alone.
        let rest = try await cloud.modify(
            as: user,
            [
                FixtureCloud.note("forceDelete", "n1"),
                FixtureCloud.note("forceUpdate", "n2", ["rank": ["value": 20]]),
                FixtureCloud.note("create", "n6", ["rank": ["value": 6]]),
            ]
        )
        try #require(rest.records.allSatisfy { $0.serverErrorCode == .null }, "\(rest)")
        let page = try await cloud.changes(as: user, limit: 2)
        let results = try await cloud.call(
            "records/query",
            as: user,
            ["zoneID": FixtureCloud.zone("Notes"), "query": query, "resultsLimit": 2]
        )
        return Client(
            user: user,
            apiToken: cloud.apiToken,
            token: page.syncToken,
            marker: results.body.continuationMarker,
            tag: rest.records[2].recordChangeTag
        )
    }

    /// Checks that a client goes on where it was, and that snapshots have what they had.
    private static func goOn(_ client: Client, _ cloud: FixtureCloud) async throws {
        let rest = try await client.changes(cloud, after: client.token)
        #expect(rest.serverErrorCode == .null, "\(rest)")
        #expect(client.names(rest) == ["n1", "n2", "n5", "n6"])
        let results = try await client.call(
            cloud,
            "records/query",
            [
                "zoneID": FixtureCloud.zone("Notes"), "query": query,
                "continuationMarker": client.marker,
            ]
        )
        #expect(client.names(results) == ["n2", "n5", "n6"])
        // The tag is still that of the newest version, and a new row gets a new number.
        let saved = try await client.call(
            cloud,
            "records/modify",
            [
                "zoneID": FixtureCloud.zone("Notes"),
                "operations": [
                    FixtureCloud.note("update", "n6", ["rank": ["value": 60]], tag: client.tag),
                    FixtureCloud.note("create", "n7", ["rank": ["value": 7]]),
                ],
            ]
        )
        #expect(saved.records.elements.allSatisfy { $0.serverErrorCode == .null }, "\(saved)")
        let news = try await client.changes(cloud, after: rest.syncToken)
        #expect(client.names(news) == ["n6", "n7"])
        let report = try await cloud.service.check()
        #expect(report.findings == [])
        let differences = try await cloud.service.differences(
            from: "five",
            to: nil,
            of: container
        )
        #expect(
            differences.differences.map { "\($0.kind) \($0.recordName ?? "")" }.sorted()
                == ["added n6", "added n7", "changed n2", "deleted n1"]
        )
        try await cloud.service.restoreSnapshot("five", of: container)
        let again = try await client.changes(cloud, after: .null)
        #expect(client.names(again) == ["n1", "n2", "n3", "n4", "n5"])
        let photo = again.records.elements.first { $0.recordName == "n1" }?.fields.photo
        let bytes = try await cloud.download(try #require(photo).value.downloadURL)
        #expect(bytes == Data("a photo".utf8))
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A client goes on with all its tokens on PostgreSQL, and on SQLite again")
    func client() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/cloud"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        let files = try FileAssetStorage(directory: path + "/assets")
        let storage = try SQLiteStorage(path: path + "/cloud.sqlite")
        let client = try await Self.fill(try await Self.cloud(storage, files))
        try storage.close()

        let source = try SQLiteData.source(path)
        let address = try PostgresServer.shared.get().newDatabase()
        let target = try await PostgresData.target(PostgresAddress(address))
        let postgres = try await PostgresStorage.open(
            PostgresAddress(address),
            mayBeUnfinished: true
        )
        let assets = postgres.assetStorage()
        let report = try await DataCopy(
            from: source,
            to: target,
            assets: DataCopy.Assets(from: files, to: assets)
        ).run()
        #expect(report.isComplete && report.assets == 1 && report.damagedAssets == [])

        let (back, copy) = try folder.newNamedData()
        let backFiles = try FileAssetStorage(directory: back + "/assets")
        let second = try await DataCopy(
            from: target,
            to: copy,
            assets: DataCopy.Assets(from: assets, to: backFiles)
        ).run()
        #expect(second.isComplete && second.assets == 1)
        #expect(try dump(copy) == dump(source))
        try copy.close()

        try await Self.goOn(client, Self.cloud(postgres, assets))
        let sqlite = try SQLiteStorage(path: back + "/cloud.sqlite")
        try await Self.goOn(client, Self.cloud(sqlite, backFiles))
    }

    @Test("A backup of a database is restored to a folder, and to another database")
    func backup() async throws {
        let folder = try TestFolder()
        let address = try PostgresServer.shared.get().newDatabase()
        let storage = try await PostgresStorage.open(address)
        let cloud = try await Self.cloud(storage, storage.assetStorage())
        let client = try await Self.fill(cloud)
        let archive = folder.path + "/backup.tar"
        let report = try await Backup.write(
            dataOf: try await PostgresData.source(PostgresAddress(address), isHeld: false),
            assets: storage.assetStorage(),
            to: archive,
            replaces: false,
            seconds: 1_700_000_000
        )
        #expect(report.isGood && report.assets == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["backup.tar"])

        let path = folder.path + "/restored"
        #expect(try await Restore(of: archive).run(into: path).isGood)
        let files = try FileAssetStorage(directory: path + "/assets")
        let sqlite = try SQLiteStorage(path: path + "/cloud.sqlite")
        try await Self.startOver(client, Self.cloud(sqlite, files))

        let other = try PostgresServer.shared.get().newDatabase()
        let postgres = try await PostgresStorage.open(other)
        let restored = try await Restore(of: archive).run(
            into: try await PostgresData.target(PostgresAddress(other)),
            assets: postgres.assetStorage(),
            in: folder.path
        )
        #expect(restored.isGood)
        try await Self.startOver(client, Self.cloud(postgres, postgres.assetStorage()))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["backup.tar", "restored"]
        )
    }

    /// Checks that a client is known, and has to read the feed from its beginning.
    private static func startOver(_ client: Client, _ cloud: FixtureCloud) async throws {
        let expired = try await client.changes(cloud, after: client.token)
        #expect(expired.serverErrorCode == "CHANGE_TOKEN_EXPIRED", "\(expired)")
        let zone = try await client.changes(cloud, after: .null)
        #expect(client.names(zone) == ["n1", "n2", "n3", "n4", "n5", "n6"])
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("An asset that is missing in the source is named, and all the rest is copied")
    func missingAsset() async throws {
        let folder = try TestFolder()
        let address = try PostgresServer.shared.get().newDatabase()
        let storage = try await PostgresStorage.open(address)
        _ = try await Self.fill(try await Self.cloud(storage, storage.assetStorage()))
        let (_, target) = try folder.newNamedData()
        let report = try await DataCopy(
            from: try await PostgresData.source(PostgresAddress(address), isHeld: true),
            to: target,
            assets: DataCopy.Assets(
                from: try FileAssetStorage.temporary(),
                to: try FileAssetStorage.temporary()
            )
        ).run()
        #expect(report.isComplete && report.assets == 1)
        #expect(
            report.damagedAssets == [
                // SHA-256 of "a photo".
                "d4e24d749a4fe2f161af2de913c0402b04e3ae287dafd0f9dbfa4a5c56c69285"
            ]
        )
        #expect(try target.read { try $0.copyState() } == nil)
    }
}
#endif
