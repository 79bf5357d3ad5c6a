import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Quota, rate and cleaning", .overHTTP)
struct QuotaTests {
    private static func cloud(
        _ configuration: ServiceConfiguration
    ) async throws -> (FixtureCloud, FixtureCloud.User) {
        let cloud = try await FixtureCloud(configuration: configuration)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        return (cloud, ada)
    }

    private func note(_ kind: String, _ name: String, bytes: Int) -> JSON {
        // The name of the field counts too.
        FixtureCloud.note(
            kind,
            name,
            ["text": ["value": .string(String(repeating: "x", count: bytes - 4))]]
        )
    }

    private func code(_ response: FixtureCloud.Response) -> [String?] {
        response.records.map(\.serverErrorCode.text)
    }

    @Test("What does not fit is refused, and what was deleted makes room")
    func quota() async throws {
        let (cloud, ada) = try await Self.cloud(ServiceConfiguration(userQuotaBytes: 1000))
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Other", as: ada)
        let first = try await cloud.modify(
            as: ada,
            atomic: false,
            [note("create", "a", bytes: 600), note("create", "b", bytes: 401)]
        )
        #expect(code(first) == [nil, "QUOTA_EXCEEDED"])
        #expect(first.status == 200)
        // All zones count together; other users do not.
        let second = try await cloud.modify("Other", as: ada, [note("create", "c", bytes: 400)])
        #expect(code(second) == [nil])
        let third = try await cloud.modify("Other", as: ada, [note("create", "d", bytes: 5)])
        #expect(code(third) == ["QUOTA_EXCEEDED"])
        #expect(third.records[0].reason.text?.contains("room for 0") == true)
        let used = try await cloud.service.bytesUsed(by: ada.user, environment: .development)
        #expect(used == 1000)
        let others = try await cloud.modify(
            "_defaultZone",
            as: bob,
            [note("create", "e", bytes: 900)]
        )
        #expect(code(others) == [nil])
        // Shrinking and deleting are always allowed, and free space.
        let smaller = try await cloud.modify(as: ada, [note("forceReplace", "a", bytes: 100)])
        #expect(code(smaller) == [nil])
        let fits = try await cloud.modify(as: ada, [note("create", "f", bytes: 500)])
        #expect(code(fits) == [nil])
        _ = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceDelete", "f"), FixtureCloud.note("forceDelete", "a")]
        )
        #expect(try await cloud.service.bytesUsed(by: ada.user, environment: .development) == 400)
        _ = try await cloud.call(
            "zones/modify",
            as: ada,
            [
                "operations": [
                    ["operationType": "delete", "zone": ["zoneID": ["zoneName": "Other"]]]
                ]
            ]
        )
        #expect(try await cloud.service.bytesUsed(by: ada.user, environment: .development) == 0)
    }

    @Test("An atomic request that does not fit changes nothing, the sum neither")
    func atomic() async throws {
        let (cloud, ada) = try await Self.cloud(ServiceConfiguration(userQuotaBytes: 1000))
        let response = try await cloud.modify(
            as: ada,
            atomic: true,
            [note("create", "a", bytes: 600), note("create", "b", bytes: 600)]
        )
        #expect(code(response) == ["ATOMIC_ERROR", "QUOTA_EXCEEDED"])
        #expect(try await cloud.service.bytesUsed(by: ada.user, environment: .development) == 0)
    }

    @Test("Assets count, and a full database takes no more of them")
    func assets() async throws {
        let (cloud, ada) = try await Self.cloud(ServiceConfiguration(userQuotaBytes: 1000))
        let token: JSON = ["recordName": "a", "recordType": "Note", "fieldName": "photo"]
        let upload = try await cloud.call(
            "assets/upload",
            as: ada,
            ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
        )
        let url = try #require(upload.body.tokens[0].url.text)
        let secret = try #require(url.split(separator: "/").last.map(String.init))
        let stored = await cloud.service.receiveAsset(
            token: secret,
            body: AsyncStream<Data> {
                // With the field, as the limit of a record counts it, exactly a thousand.
                $0.yield(Data(count: 1000 - 64 - 5))
                $0.finish()
            }
        )
        let file = try JSON(stored.body).singleFile
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "a", ["photo": ["value": file, "type": "ASSETID"]])]
        )
        #expect(saved.records[0].serverErrorCode == nil, "\(saved)")
        let full = try await cloud.call(
            "assets/upload",
            as: ada,
            ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
        )
        #expect(full.status == 413)
        #expect(full.code == "QUOTA_EXCEEDED")
    }

    @Test("The public database has a quota of its own")
    func publicQuota() async throws {
        let (cloud, ada) = try await Self.cloud(ServiceConfiguration(publicQuotaBytes: 100))
        let response = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [note("create", "a", bytes: 90), note("create", "b", bytes: 90)]
        )
        #expect(code(response) == [nil, "QUOTA_EXCEEDED"])
        #expect(code(try await cloud.modify(as: ada, [note("create", "c", bytes: 200)])) == [nil])
    }

    @Test("A caller who asks too often learns when to ask again; others are not held up")
    func throttling() async throws {
        let rate = RequestRate(burst: 3, perSecond: 0.5)
        let cloud = try await FixtureCloud(configuration: ServiceConfiguration(requestRate: rate))
        let (ada, bob) = (try await cloud.addUser(), try await cloud.addUser("Bob"))
        for _ in 1...3 {
            #expect(try await cloud.call("zones/list", as: ada, method: "GET").status == 200)
        }
        let refused = try await cloud.call("zones/list", as: ada, method: "GET")
        #expect(refused.status == 429)
        #expect(refused.code == "THROTTLED")
        #expect(refused.body.retryAfter == 2)
        #expect(try await cloud.call("zones/list", as: bob, method: "GET").status == 200)
        cloud.clock.advance(seconds: 2)
        #expect(try await cloud.call("zones/list", as: ada, method: "GET").status == 200)
        #expect(try await cloud.call("zones/list", as: ada, method: "GET").status == 429)
        // However long it was silent, it has at most the burst.
        cloud.clock.advance(seconds: 1000)
        var statuses: [Int] = []
        for _ in 1...4 {
            statuses.append(try await cloud.call("zones/list", as: ada, method: "GET").status)
        }
        #expect(statuses == [200, 200, 200, 429])
    }

    @Test("Cleaning removes assets that nothing refers to, and nothing else")
    func cleaning() async throws {
        let (cloud, ada) = try await Self.cloud(ServiceConfiguration())
        var urls: [String] = []
        for name in ["kept", "gone"] {
            let token: JSON = [
                "recordName": .string(name), "recordType": "Note", "fieldName": "photo",
            ]
            let upload = try await cloud.call(
                "assets/upload",
                as: ada,
                ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
            )
            let url = try #require(upload.body.tokens[0].url.text)
            let stored = await cloud.service.receiveAsset(
                token: String(url.split(separator: "/").last ?? ""),
                body: AsyncStream<Data> {
                    $0.yield(Data(name.utf8))
                    $0.finish()
                }
            )
            let photo: JSON = ["value": try JSON(stored.body).singleFile, "type": "ASSETID"]
            _ = try await cloud.modify(
                as: ada,
                [FixtureCloud.note("create", name, ["photo": photo])]
            )
        }
        let found = try await cloud.lookUp(["kept", "gone"], as: ada)
        urls = found.records.compactMap(\.fields.photo.value.downloadURL.text)
        try #require(urls.count == 2)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "gone")])
        func isThere(_ url: String) async -> Bool {
            guard case .download(let token)? = AssetRoute(path: url.dropFirst(17)) else {
                Issue.record("\(url)")
                return false
            }
            return (try? await cloud.service.openAsset(token: token)) != nil
        }
        try await cloud.service.clean()
        #expect(await isThere(urls[1]))
        // Files have the system's time.
        let ahead = Date().timeIntervalSince1970 * 1000 - Double(cloud.clock.milliseconds)
        cloud.clock.advance(seconds: Int64(ahead / 1000) + 3 * 86_400)
        try await cloud.service.clean()
        let again = try await FixtureCloud.User(
            user: ada.user,
            token: cloud.service.addWebAuthToken(
                user: ada.user,
                apiToken: cloud.apiToken,
                environment: .development
            )
        )
        let kept = try await cloud.lookUp(["kept"], as: again)
        let url = try #require(kept.records[0].fields.photo.value.downloadURL.text)
        #expect(await isThere(url))
        let storage = cloud.assets
        let checksum = try #require(found.records[1].fields.photo.value.fileChecksum.text)
        let bytes = try #require(Data(base64Encoded: checksum))
        #expect(try await storage.open(Array(bytes)) == nil)
    }
}
