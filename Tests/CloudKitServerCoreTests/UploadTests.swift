import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Synchronization
import Testing

@Suite("Upload addresses", .overHTTP)
struct UploadTests {
    private static func world(
        quota: Int64? = nil
    ) async throws -> (cloud: FixtureCloud, ada: FixtureCloud.User) {
        let cloud = try await FixtureCloud(
            configuration: ServiceConfiguration(userQuotaBytes: quota)
        )
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        return (cloud, ada)
    }

    /// Returns the tokens of upload addresses for fields of records.
    private func addresses(
        _ names: [String],
        _ cloud: FixtureCloud,
        _ ada: FixtureCloud.User
    ) async throws -> [String] {
        let tokens = names.map { name -> JSON in
            ["recordName": .string(name), "recordType": "Note", "fieldName": "photo"]
        }
        let response = try await cloud.call(
            "assets/upload",
            as: ada,
            ["zoneID": FixtureCloud.zone("Notes"), "tokens": .array(tokens)]
        )
        return response.body.tokens.elements.compactMap {
            ($0.url.text ?? "").split(separator: "/").last.map(String.init)
        }
    }

    private func send(
        _ bytes: Data,
        to token: String,
        _ cloud: FixtureCloud
    ) async throws -> FixtureCloud.Response {
        try await cloud.send(
            bytes,
            to: .string("http://cloud.test" + AssetRoute.upload(token: token).path)
        )
    }

    private func save(
        _ receipt: JSON,
        in name: String,
        _ cloud: FixtureCloud,
        _ ada: FixtureCloud.User
    ) async throws -> JSON {
        let note = FixtureCloud.note("forceUpdate", name, ["photo": ["value": receipt]])
        return try await cloud.modify(as: ada, [note]).records[0]
    }

    @Test("An address takes one upload; asking again gives another address")
    func once() async throws {
        let (cloud, ada) = try await Self.world()
        let address = try await addresses(["a"], cloud, ada)[0]
        let first = try await send(Data("one".utf8), to: address, cloud)
        #expect(first.status == 200)
        for _ in 0..<2 {
            #expect(try await send(Data("two".utf8), to: address, cloud).status == 403)
        }
        #expect(try await save(first.body.singleFile, in: "a", cloud, ada).serverErrorCode == nil)
        // A record that has the bytes does not free the address.
        #expect(try await send(Data("two".utf8), to: address, cloud).status == 403)
        let another = try await addresses(["a"], cloud, ada)[0]
        #expect(another != address)
        #expect(try await send(Data("two".utf8), to: another, cloud).status == 200)
    }

    @Test("An upload that was cut may be sent again to its address")
    func cut() async throws {
        struct Cut: Error {}
        let (cloud, ada) = try await Self.world()
        let address = try await addresses(["a"], cloud, ada)[0]
        let body = AsyncThrowingStream<Data, any Error> {
            $0.yield(Data("on".utf8))
            $0.finish(throwing: Cut())
        }
        let failed = await cloud.service.receiveAsset(token: address, body: body)
        #expect(failed.status != 200)
        #expect(try await send(Data("one".utf8), to: address, cloud).status == 200)
    }

    @Test("Bytes count against the quota before any record has them, and once when one has")
    func quota() async throws {
        let (cloud, ada) = try await Self.world(quota: 1000)
        let tokens = try await addresses(["a", "b", "c"], cloud, ada)
        let first = try await send(Data(repeating: 1, count: 600), to: tokens[0], cloud)
        #expect(first.status == 200)
        let second = try await send(Data(repeating: 2, count: 600), to: tokens[1], cloud)
        #expect(second.code == "QUOTA_EXCEEDED")
        // There is no room for a record either.
        let text: JSON = ["text": ["value": .string(String(repeating: "x", count: 450))]]
        let refused = try await cloud.modify(as: ada, [FixtureCloud.note("create", "t", text)])
        #expect(refused.records[0].serverErrorCode == "QUOTA_EXCEEDED")
        #expect(try await save(first.body.singleFile, in: "a", cloud, ada).serverErrorCode == nil)
        // The record's bytes are those of the upload and count once.
        #expect(try await send(Data(repeating: 3, count: 300), to: tokens[2], cloud).status == 200)
    }

    @Test("An upload is refused when its bytes exceed the quota, and not when they end")
    func endless() async throws {
        let (cloud, ada) = try await Self.world(quota: 1000)
        let token = try await addresses(["a"], cloud, ada)[0]
        let pieces = Mutex(0)
        let body = AsyncStream<Data> {
            pieces.withLock { count in
                count += 1
                return count <= 100 ? Data(count: 600) : nil
            }
        }
        let response = await cloud.service.receiveAsset(token: token, body: body)
        #expect(try FixtureCloud.Response(response).code == "QUOTA_EXCEEDED")
        // The rest was not requested.
        #expect(pieces.withLock { $0 } < 100)
    }

    @Test("Uploads side by side do not exceed a quota together")
    func together() async throws {
        let (cloud, ada) = try await Self.world(quota: 1000)
        let tokens = try await addresses((0..<4).map { "r\($0)" }, cloud, ada)
        // All have sent their first half before any sends its second.
        let streams = tokens.map { _ in AsyncStream<Data>.makeStream() }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for (number, (token, stream)) in zip(tokens, streams).enumerated() {
                stream.continuation.yield(Data(repeating: UInt8(number), count: 200))
                group.addTask {
                    await cloud.service.receiveAsset(token: token, body: stream.stream).status
                }
            }
            for (number, stream) in streams.enumerated() {
                stream.continuation.yield(Data(repeating: UInt8(number), count: 200))
                stream.continuation.finish()
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count <= 2)
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 413 })
    }

    @Test("Bytes that no record took over are gone within the hour, others stay")
    func unused() async throws {
        let (cloud, ada) = try await Self.world()
        cloud.outliveFiles()
        let user = try await cloud.again(ada)
        let tokens = try await addresses(["a", "b"], cloud, user)
        let used = try await send(Data("used".utf8), to: tokens[0], cloud).body.singleFile
        let unused = try await send(Data("unused".utf8), to: tokens[1], cloud).body.singleFile
        #expect(try await save(used, in: "a", cloud, user).serverErrorCode == nil)
        func isThere(_ file: JSON) async throws -> Bool {
            let checksum = try #require(Data(base64Encoded: file.fileChecksum.text ?? ""))
            return try await cloud.assets.open(Array(checksum)) != nil
        }
        cloud.clock.advance(seconds: 29 * 60)
        #expect(try await isThere(used))
        #expect(try await isThere(unused))
        cloud.clock.advance(seconds: 2 * 60)
        // The receipt expires before the bytes are removed.
        #expect(try await save(unused, in: "b", cloud, user).serverErrorCode == "BAD_REQUEST")
        try await cloud.service.clean()
        #expect(try await isThere(used))
        let remains = try await isThere(unused)
        #expect(!remains)
    }
}
