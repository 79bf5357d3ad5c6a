#if S3
import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerS3
import Foundation
import Synchronization
import Testing

/// The time of a fake S3, for the client that signs its requests.
struct FakeClock: ServiceClock {
    let server: FakeS3
    var milliseconds: Int64 { server.now }
}

/// A storage over a fake S3, in small parts and pages, that waits for nothing.
struct FakeStorage {
    let server = FakeS3()
    let storage: S3AssetStorage
    /// The numbers of the attempts before which the client waited.
    let waits = Pauses()

    final class Pauses: Sendable {
        private let all = Mutex<[Int]>([])
        var numbers: [Int] { all.withLock { $0 } }
        func add(_ number: Int) { all.withLock { $0.append(number) } }
    }

    init(
        _ address: String = "s3://bucket/assets",
        budget: Duration = .seconds(20),
        change: (inout S3Settings) -> Void = { _ in }
    ) throws {
        let variables = S3SettingsTests.variables.merging([
            "AWS_ENDPOINT_URL_S3": "http://s3.example:9000"
        ]) { $1 }
        var settings = try S3Settings(address: address, variables: variables)
        change(&settings)
        var retrying = S3Retrying()
        retrying.budget = budget
        retrying.now = { .zero }
        retrying.wait = { [waits] in waits.add($0) }
        let client = S3Client(
            settings,
            transport: server,
            clock: FakeClock(server: server),
            retrying: retrying
        )
        storage = S3AssetStorage(client, partBytes: 100_000, pageItems: 5)
    }

    func store(_ bytes: Data) async throws -> StoredAsset {
        try await storage.store(AssetStorageConformance.stream([bytes]), limit: .max)
    }
}

@Suite("Assets in S3")
struct S3AssetStorageTests {
    @Test("Keeps the promises of an asset storage", arguments: AssetStorageConformance.checks)
    func conformance(check: AssetStorageConformance.Check) async throws {
        try await check.run(FakeStorage().storage)
    }

    @Test("Keeps them in a bucket with versions", arguments: AssetStorageConformance.checks)
    func conformanceOfVersions(check: AssetStorageConformance.Check) async throws {
        let fake = try FakeStorage("s3://bucket")
        fake.server.keepVersions()
        try await check.run(fake.storage)
    }

    @Test("An asset is an object that is named as its file would be, once")
    func keys() async throws {
        for (address, prefix) in [("s3://bucket", ""), ("s3://bucket/a/Größe", "a/Größe/")] {
            let fake = try FakeStorage(address)
            _ = try await fake.store(Data([1, 2]))
            _ = try await fake.store(Data([1, 2]))
            let name = "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222"
            #expect(fake.server.keys == ["\(prefix)a1/\(name)"])
            #expect(fake.storage.location == address)
        }
    }

    @Test("A small asset is one request, a large one a request for each part and two more")
    func requests() async throws {
        let fake = try FakeStorage()
        _ = try await fake.store(AssetStorageConformance.bytes(100_000))
        #expect(fake.server.requests.count == 1)
        _ = try await fake.store(AssetStorageConformance.bytes(250_001))
        #expect(
            fake.server.requests.map { $0.prefix(4) } == [
                "PUT ", "POST", "PUT ", "PUT ", "PUT ", "POST",
            ]
        )
        #expect(fake.server.uploads == 0)
    }

    @Test("What fails while it arrives reaches no bucket")
    func brokenUpload() async throws {
        let fake = try FakeStorage()
        await #expect(throws: AssetTooLarge(limit: 10)) {
            try await fake.storage.store(
                AssetStorageConformance.stream([Data(count: 11)]),
                limit: 10
            )
        }
        #expect(fake.server.requests.isEmpty)
    }

    @Test("A failed upload in parts leaves no parts")
    func aborted() async throws {
        let bytes = AssetStorageConformance.bytes(250_000)
        for (method, part) in [("PUT", "partNumber=2"), ("POST", "uploadId=")] {
            let fake = try FakeStorage()
            fake.server.meet([.status(403, code: "AccessDenied")]) {
                $0.method == method && $0.url.contains(part)
            }
            let error = await #expect(throws: StorageError.self) { try await fake.store(bytes) }
            #expect(error?.message.contains("AccessDenied") == true)
            #expect(fake.server.uploads == 0 && fake.server.keys.isEmpty)
        }
    }

    @Test("A cancelled upload leaves no parts either")
    func cancelled() async throws {
        let fake = try FakeStorage()
        let bytes = AssetStorageConformance.bytes(250_000)
        let (started, starting) = AsyncStream<Void>.makeStream()
        let (held, holding) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await fake.storage.store(
                AssetStorageConformance.stream([bytes]).map { chunk in
                    starting.finish()
                    for await _ in held {}
                    return chunk
                },
                limit: .max
            )
        }
        for await _ in started {}
        fake.server.meet([.lost, .lost]) { $0.url.contains("partNumber") }
        task.cancel()
        holding.finish()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(fake.server.uploads == 0 && fake.server.keys.isEmpty)
    }

    @Test("The parts of uploads that nobody ended go with the old assets, those of others stay")
    func remains() async throws {
        let fake = try FakeStorage()
        let key = "assets/ab/" + String(repeating: "ab", count: 32)
        fake.server.leaveUpload(key)
        fake.server.leaveUpload(key)
        fake.server.leaveUpload("assets/of others")
        fake.server.now += 5000
        fake.server.leaveUpload(key)
        try await fake.storage.removeAssets(olderThan: fake.server.now) { _ in true }
        #expect(fake.server.uploads == 2)
    }

    @Test("Objects of others are neither listed nor removed")
    func strangers() async throws {
        let fake = try FakeStorage()
        let name = String(repeating: "ab", count: 32)
        let keys = [
            "assets/ab/\(name.uppercased())", "assets/ab/x", "assets/cd/\(name)", "assets/\(name)",
            "assets2/ab/\(name)",
        ]
        for key in keys { fake.server.add(key) }
        #expect(try await fake.storage.isEmpty())
        try await fake.storage.removeAssets(olderThan: .max) { _ in false }
        #expect(fake.server.keys == keys.sorted())
        _ = try await fake.store(Data([1]))
        #expect(try await !fake.storage.isEmpty())
    }

    @Test("Bytes that are stored again count as new, to the second")
    func age() async throws {
        let fake = try FakeStorage()
        let kept = try await fake.store(Data([1]))
        let first = fake.server.now
        // Within the second in which it was stored it is not older than anything.
        try await fake.storage.removeAsset(kept.checksum, olderThan: first + 999)
        #expect(fake.server.keys.count == 1)
        fake.server.now += 60_000
        _ = try await fake.store(Data([1]))
        try await fake.storage.removeAsset(kept.checksum, olderThan: first + 30_000)
        try await fake.storage.removeAssets(olderThan: first + 30_000) { _ in false }
        #expect(fake.server.keys.count == 1)
        try await fake.storage.removeAsset(kept.checksum, olderThan: first + 62_000)
        #expect(fake.server.keys.isEmpty)
    }

    @Test("Of an object with versions, an upload during the removal stays")
    func versions() async throws {
        let fake = try FakeStorage()
        fake.server.keepVersions()
        let kept = try await fake.store(Data([1]))
        let old = fake.server.now + 10_000
        fake.server.now += 60_000
        // Another server stores the same bytes between the question and the removal.
        let other = fake.server
        let key = try #require(other.keys.first)
        fake.server.meet([.before { other.addVersion(key) }]) { $0.method == "DELETE" }
        try await fake.storage.removeAsset(kept.checksum, olderThan: old)
        #expect(try await AssetStorageConformance.read(kept.checksum, fake.storage) == Data([1]))
    }

    @Test("A bucket that gives addresses gives signed ones, which have no secret")
    func addresses() async throws {
        let fake = try FakeStorage { $0.downloadsDirectly = true }
        let kept = try await fake.store(Data([1, 2]))
        let url = try #require(fake.storage.downloadURL(of: kept.checksum, seconds: 60))
        #expect(url.hasPrefix("http://s3.example:9000/bucket/assets/a1/a12871fee"))
        #expect(url.contains("X-Amz-Expires=60&"))
        #expect(url.contains("response-content-disposition=attachment"))
        #expect(!url.contains("SECRET1"))
        #expect(try FakeStorage().storage.downloadURL(of: kept.checksum, seconds: 60) == nil)
    }
}
#endif
