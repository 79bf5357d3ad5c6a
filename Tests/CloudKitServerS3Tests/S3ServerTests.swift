#if S3
import AssetStorageConformance
import AsyncHTTPClient
import CloudKitServerCore
import CloudKitServerS3
import CloudKitServerSQLite
import CloudKitWebClient
import CloudKitWire
import Foundation
import NIOCore
import NIOHTTP1
import ServerFixtures
import Synchronization
import Testing

/// A server for S3 over HTTP, which `Scripts/s3` starts, with its variables for credentials and addresses.
private enum RealServer {
    static let variables = ProcessInfo.processInfo.environment
    /// Buckets of a server that checks signatures: one without versions and one with.
    static let buckets = ["CLOUDKIT_S3_BUCKET", "CLOUDKIT_S3_VERSIONS_BUCKET"].compactMap {
        variables[$0]
    }
    /// A server that also takes signed URLs.
    static let addresses = variables["CLOUDKIT_S3_ADDRESSES_ENDPOINT"]
    static let isThere = !buckets.isEmpty

    static func settings(
        _ prefix: String = UUID().uuidString,
        in bucket: String = buckets.first ?? "",
        _ changes: [String: String] = [:]
    ) throws -> S3Settings {
        try S3Settings(
            address: "s3://\(bucket)/\(prefix)",
            variables: variables.merging(changes) { $1 }
        )
    }

    static func storage(_ settings: S3Settings) -> S3AssetStorage {
        S3AssetStorage(settings, clock: SystemClock())
    }

    /// Returns the memory of this process in bytes, as far as the system knows it.
    static func memory() -> Int {
        // Without the file the test shows nothing.
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}

@Suite("A server for S3", .enabled(if: RealServer.isThere), .serialized)
struct S3ServerTests {
    @Test(
        "Keeps the promises of an asset storage",
        arguments: RealServer.buckets,
        AssetStorageConformance.checks
    )
    func conformance(bucket: String, check: AssetStorageConformance.Check) async throws {
        try await check.run(RealServer.storage(RealServer.settings(in: bucket)))
    }

    @Test("Keys with other characters are signed as they are sent")
    func characters() async throws {
        for prefix in ["Größe/a+b&c=d~(e)'!*", "%2F/%/日本"] {
            let storage = RealServer.storage(try RealServer.settings(prefix + UUID().uuidString))
            let kept = try await storage.store(
                AssetStorageConformance.stream([Data([1])]),
                limit: 1
            )
            #expect(try await AssetStorageConformance.read(kept.checksum, storage) == Data([1]))
            #expect(try await !storage.isEmpty())
            try await storage.removeAssets(olderThan: .max) { _ in false }
            #expect(try await storage.isEmpty())
        }
    }

    @Test("A wrong secret, a wrong key and a missing bucket are reported with their remedies")
    func refusals() async throws {
        for (change, bucket, remedy) in [
            (["AWS_SECRET_ACCESS_KEY": "wrong"], nil, "AWS_SECRET_ACCESS_KEY"),
            (["AWS_ACCESS_KEY_ID": "wrong"], nil, "AWS_ACCESS_KEY_ID"),
            ([:], "no-such-bucket", "create the bucket"),
        ] as [([String: String], String?, String)] {
            let settings = try RealServer.settings(in: bucket ?? RealServer.buckets[0], change)
            let error = await #expect(throws: StorageError.self) {
                try await RealServer.storage(settings).isEmpty()
            }
            #expect(error?.message.contains(remedy) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A large asset takes no more memory than a part of it", .timeLimit(.minutes(10)))
    func memory() async throws {
        let megabytes = RealServer.variables["CLOUDKIT_S3_MEGABYTES"].flatMap { Int($0) } ?? 50
        let storage = RealServer.storage(try RealServer.settings())
        let before = RealServer.memory()
        let piece = AssetStorageConformance.bytes(1 << 20)
        let left = Mutex(megabytes)
        let pieces = AsyncStream<Data> {
            left.withLock { left in
                left -= 1
                return left < 0 ? nil : piece
            }
        }
        let kept = try await storage.store(pieces, limit: .max)
        #expect(kept.size == Int64(megabytes) << 20)
        var most = RealServer.memory()
        var size = 0
        let contents = try #require(try await storage.open(kept.checksum))
        for try await piece in contents.chunks {
            size += piece.count
            most = max(most, RealServer.memory())
        }
        #expect(Int64(size) == kept.size)
        #expect(most - before < 32 << 20, "\((most - before) >> 20) MB more")
        try await storage.removeAsset(kept.checksum, olderThan: .max)
    }

    @Test("Nobody listens: the error names the server, and that it may work later")
    func nobody() async throws {
        let settings = try RealServer.settings("x", ["AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"])
        var retrying = S3Retrying()
        retrying.wait = { _ in }
        let client = S3Client(
            settings,
            transport: HTTPS3Transport(client: HTTPS3Transport.client),
            clock: SystemClock(),
            retrying: retrying
        )
        let error = await #expect(throws: StorageError.self) {
            try await S3AssetStorage(client).isEmpty()
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("127.0.0.1:1") == true)
    }

    @Test("Assets of a cloud are in the bucket, and come down through the service")
    func service() async throws {
        let storage = RealServer.storage(try RealServer.settings())
        let cloud = try await FixtureCloud(assets: storage)
        let (_, photo) = try await Self.photo(in: cloud)
        #expect(try await cloud.download(photo.downloadURL) == Self.bytes)
        #expect(try await !storage.isEmpty())
    }

    @Test(
        "Clients download from a signed URL, and notice when it was changed",
        .enabled(if: RealServer.addresses != nil)
    )
    func addresses() async throws {
        var settings = try RealServer.settings(
            "Größe+\(UUID().uuidString)",
            ["AWS_ENDPOINT_URL_S3": RealServer.addresses ?? ""]
        )
        settings.downloadsDirectly = true
        let cloud = try await FixtureCloud(assets: RealServer.storage(settings))
        let (_, photo) = try await Self.photo(in: cloud)
        let url = try #require(photo.downloadURL.text)
        #expect(url.hasPrefix(RealServer.addresses ?? "none"))
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent("s3-\(UUID().uuidString)")
        // The file is temporary.
        defer { try? FileManager.default.removeItem(at: file) }
        let client = WebClient(
            url: "http://127.0.0.1:1",
            container: FixtureCloud.container,
            environment: .development,
            credentials: WebCredentials(apiToken: "none")
        )
        let asset = WireAsset(
            fileChecksum: photo.fileChecksum.text,
            size: Int64(Self.bytes.count),
            downloadURL: url
        )
        try await client.download(asset, to: file)
        #expect(try Data(contentsOf: file) == Self.bytes)
        let response = try await HTTPS3Transport.client.execute(
            HTTPClientRequest(url: url),
            timeout: .seconds(30)
        )
        #expect(response.headers.first(name: "content-disposition") == "attachment")
        _ = try await response.body.collect(upTo: 1 << 20)
    }

    private static let bytes = AssetStorageConformance.bytes(300_000)

    /// Saves a record with an asset; returns its name, and the asset as it is fetched.
    private static func photo(in cloud: FixtureCloud) async throws -> (name: String, photo: JSON) {
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let field = try await cloud.upload(Self.bytes, for: "n1", as: ada)
        _ = try await cloud.call(
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
        let found = try await cloud.call(
            "records/lookup",
            as: ada,
            ["zoneID": ["zoneName": "Notes"], "records": [["recordName": "n1"]]]
        )
        return ("n1", found.records[0].fields.photo.value)
    }
}
#endif
