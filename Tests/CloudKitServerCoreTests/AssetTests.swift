import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Assets")
struct AssetTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud(configuration: ServiceConfiguration(assetBytes: 1000))
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func uploadURL(for name: String, _ field: String = "image") async throws -> String {
        let response = try await cloud.call(
            "assets/upload",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "tokens": [
                    [
                        "recordName": .string(name), "recordType": "Note",
                        "fieldName": .string(field),
                    ]
                ],
            ]
        )
        return try #require(response.body.tokens[0].url.text)
    }

    private func upload(_ bytes: Data, to url: String) async throws -> FixtureCloud.Response {
        let path = try #require(URL(string: url)).path
        guard case .upload(let token)? = AssetRoute(path: path) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let chunks = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: bytes.count, by: 100) {
                continuation.yield(bytes[start..<min(start + 100, bytes.count)])
            }
            continuation.finish()
        }
        return try FixtureCloud.Response(
            await cloud.service.receiveAsset(token: token, body: chunks)
        )
    }

    private func downloadToken(_ url: JSON) throws -> String {
        let path = try #require(URL(string: url.text ?? "")).path
        guard case .download(let token)? = AssetRoute(path: path) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return token
    }

    private func download(_ url: JSON) async throws -> Data {
        let token = try downloadToken(url)
        var data = Data()
        for try await chunk in try await cloud.service.openAsset(token: token).chunks {
            data += chunk
        }
        return data
    }

    @Test("Bytes go up, into a record, and come down again")
    func roundTrip() async throws {
        let bytes = Data((0..<900).map { UInt8($0 % 251) })
        let receipt = try await upload(bytes, to: uploadURL(for: "n1")).body.singleFile
        #expect(receipt.size == 900)
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["image": ["value": receipt]])]
        )
        let asset = saved.records[0].fields.image
        #expect(asset.type == "ASSETID")
        #expect(asset.value.keys == ["fileChecksum", "size", "downloadURL"])
        #expect(try await download(asset.value.downloadURL) == bytes)
        let changes = try await cloud.changes(as: ada)
        #expect(try await download(changes.records[0].fields.image.value.downloadURL) == bytes)
        let kept = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceUpdate", "n1", ["title": ["value": "x"]])]
        )
        #expect(kept.records[0].fields.image.value.fileChecksum == receipt.fileChecksum)
    }

    @Test("A receipt that was never issued, or for another record or field, fails the record")
    func receipts() async throws {
        let url = try await uploadURL(for: "n1")
        let receipt = try await upload(Data([1]), to: url).body.singleFile
        let invented: JSON = ["fileChecksum": "AAAA", "size": 1, "receipt": "AAAA"]
        let missing: JSON = ["fileChecksum": "AAAA", "size": 1]
        let response = try await cloud.modify(
            as: ada,
            atomic: false,
            [
                FixtureCloud.note("create", "n1", ["image": ["value": invented]]),
                FixtureCloud.note("create", "n2", ["image": ["value": receipt]]),
                FixtureCloud.note("create", "n3", ["image": ["value": missing]]),
            ]
        )
        #expect(response.records.allSatisfy { $0.serverErrorCode == "BAD_REQUEST" })
        #expect(response.records[0].reason.text?.contains("never issued") == true)
        let field = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["other": ["value": receipt]])]
        )
        #expect(field.records[0].serverErrorCode == "BAD_REQUEST")
        #expect(try await cloud.changes(as: ada).records.elements.isEmpty)
    }

    @Test("An asset of one record can be set in another through rereference only")
    func rereference() async throws {
        let receipt = try await upload(Data([7]), to: uploadURL(for: "n1")).body.singleFile
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["image": ["value": receipt]])]
        )
        let read = saved.records[0].fields.image.value
        let copied = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n2", ["image": ["value": read]])]
        )
        #expect(copied.records[0].serverErrorCode == "BAD_REQUEST")
        let response = try await cloud.call(
            "assets/rereference",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "assets": [
                    ["recordName": "n1", "fieldName": "image"],
                    ["recordName": "n1", "fieldName": "nothing"],
                ],
            ]
        )
        #expect(response.body.assets[1].serverErrorCode == "NOT_FOUND")
        let again = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n2", ["image": ["value": response.body.assets[0]]])]
        )
        #expect(try await download(again.records[0].fields.image.value.downloadURL) == Data([7]))
    }

    @Test("The limit holds while bytes come: 999, 1000 and 1001 bytes")
    func limit() async throws {
        for (size, status) in [(999, 200), (1000, 200), (1001, 400)] {
            let response = try await upload(Data(count: size), to: uploadURL(for: "n1"))
            #expect(response.status == status)
        }
    }

    @Test("Upload and download URLs end")
    func expiry() async throws {
        let url = try await uploadURL(for: "n1")
        let receipt = try await upload(Data([1]), to: url).body.singleFile
        cloud.clock.advance(seconds: 15 * 60)
        #expect(try await upload(Data([1]), to: url).status == 403)
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["image": ["value": receipt]])]
        )
        let link = saved.records[0].fields.image.value.downloadURL
        cloud.clock.advance(seconds: 24 * 60 * 60)
        await #expect(throws: RequestError.self) { _ = try await download(link) }
    }

    @Test("A forged URL opens nothing")
    func forged() async throws {
        await #expect(throws: RequestError.self) {
            _ = try await cloud.service.openAsset(token: "../../etc/passwd")
        }
        let response = try FixtureCloud.Response(
            await cloud.service.receiveAsset(token: "AAAA", body: AsyncStream { $0.finish() })
        )
        #expect(response.status == 403)
        // An issued receipt with another signature.
        let photo = try await cloud.upload(Data([7]), for: "n1", "image", as: ada)
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["image": photo])]
        )
        var token = Array(try downloadToken(saved.records[0].fields.image.value.downloadURL))
        let place = token.count - 6
        token[place] = token[place] == "A" ? "B" : "A"
        await #expect(throws: RequestError.self) {
            _ = try await cloud.service.openAsset(token: String(token))
        }
    }

    @Test("A receipt of rereference keeps its file until it ends, whatever becomes of the record")
    func held() async throws {
        let photo = try await cloud.upload(Data([7]), for: "n1", "image", as: ada)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", ["image": photo])])
        // The file is so old that only records and receipts protect it.
        cloud.outliveFiles()
        let user = try await cloud.again(ada)
        let response = try await cloud.call(
            "assets/rereference",
            as: user,
            [
                "zoneID": ["zoneName": "Notes"],
                "assets": [["recordName": "n1", "fieldName": "image"]],
            ]
        )
        let receipt = response.body.assets[0]
        _ = try await cloud.modify(as: user, [FixtureCloud.note("forceDelete", "n1")])
        cloud.clock.advance(seconds: 24 * 60 * 60 - 1)
        try await cloud.service.clean()
        let saved = try await cloud.modify(
            as: user,
            [FixtureCloud.note("create", "n2", ["image": ["value": receipt]])]
        )
        #expect(try await download(saved.records[0].fields.image.value.downloadURL) == Data([7]))
        _ = try await cloud.modify(as: user, [FixtureCloud.note("forceDelete", "n2")])
        cloud.clock.advance(seconds: 1)
        try await cloud.service.clean()
        let checksum = try #require(Data(base64Encoded: receipt.fileChecksum.text ?? ""))
        #expect(try await cloud.assets.open(Array(checksum)) == nil)
    }
}
