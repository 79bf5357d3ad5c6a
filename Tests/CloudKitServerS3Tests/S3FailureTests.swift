#if S3
import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerS3
import Foundation
import Testing

@Suite("Failures of S3")
struct S3FailureTests {
    private let bytes = AssetStorageConformance.bytes(250_000)

    @Test(
        "A request that fails for now is sent again",
        arguments: [
            FakeS3.Fault.status(500, code: "InternalError"), .status(503, code: "SlowDown"),
            .status(503, code: ""), .lost, .lostAfter,
            .cut(3, silently: false),
        ]
    )
    func retries(fault: FakeS3.Fault) async throws {
        for count in [1, 100_000, 250_000] {
            let fake = try FakeStorage()
            let bytes = AssetStorageConformance.bytes(count)
            fake.server.meet([fault, fault])
            let kept = try await fake.store(bytes)
            fake.server.meet([fault])
            #expect(try await AssetStorageConformance.read(kept.checksum, fake.storage) == bytes)
            fake.server.meet([fault])
            try await fake.storage.removeAssets(olderThan: .max) { _ in false }
            fake.server.meet([fault])
            try await fake.storage.removeAsset(kept.checksum, olderThan: .max)
            #expect(fake.server.keys.isEmpty)
            #expect(!fake.waits.numbers.isEmpty)
        }
    }

    @Test("A body that S3 did not receive in time is sent again")
    func slowBody() async throws {
        let fake = try FakeStorage()
        fake.server.meet([.status(400, code: "RequestTimeout")])
        _ = try await fake.store(Data([1]))
        #expect(fake.waits.numbers == [1])
    }

    @Test("Attempts have an end, and each waits longer than the one before")
    func budget() async throws {
        let fake = try FakeStorage()
        fake.server.meet(Array(repeating: .status(503, code: "SlowDown"), count: 20))
        let error = await #expect(throws: StorageError.self) { try await fake.store(Data([1])) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("SlowDown, status 503") == true)
        #expect(fake.waits.numbers == [1, 2, 3, 4, 5])
        let pauses = (1...12).map { S3Retrying.pause($0, 1) }
        #expect(pauses.first == .milliseconds(100) && pauses.last == .seconds(5))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("After the budget no further attempt begins")
    func time() async throws {
        let fake = try FakeStorage(budget: .zero)
        fake.server.meet([.lost])
        let error = await #expect(throws: StorageError.self) { try await fake.store(Data([1])) }
        #expect(error?.code == .busy)
        #expect(fake.waits.numbers.isEmpty)
    }

    @Test(
        "An error for good is reported at once, with the bucket, the key and the remedy",
        arguments: [
            ("RequestTimeTooSkewed", 403, "clock"), ("AccessDenied", 403, "s3:PutObject"),
            ("InvalidAccessKeyId", 403, "AWS_ACCESS_KEY_ID"),
            ("NoSuchBucket", 404, "create the bucket"),
            ("SignatureDoesNotMatch", 403, "AWS_SECRET_ACCESS_KEY"),
            ("PermanentRedirect", 301, "AWS_REGION"),
            ("ExpiredToken", 400, "AWS_SESSION_TOKEN"),
        ]
    )
    func refusals(code: String, status: Int, remedy: String) async throws {
        let fake = try FakeStorage()
        fake.server.meet([.status(status, code: code)])
        let error = try #require(
            await #expect(throws: StorageError.self) { try await fake.store(Data([1, 2])) }
        )
        #expect(error.code == .other)
        for text in [code, "status \(status)", "bucket bucket", "assets/a1/a12871", remedy] {
            #expect(error.message.contains(text), "\(text) in \(error.message)")
        }
        #expect(!error.message.contains("SECRET1") && !error.message.contains("KEY1"))
        #expect(fake.waits.numbers.isEmpty)
    }

    @Test("A full storage is reported as a full disk")
    func full() async throws {
        let fake = try FakeStorage()
        fake.server.meet([.status(403, code: "QuotaExceeded")])
        let error = await #expect(throws: StorageError.self) { try await fake.store(Data([1])) }
        #expect(error?.code == .full)
    }

    @Test("A missing bucket is no missing asset")
    func noBucket() async throws {
        let fake = try FakeStorage("s3://other-bucket")
        let checksum = [UInt8](repeating: 7, count: 32)
        await #expect(throws: StorageError.self) { try await fake.storage.open(checksum) }
        await #expect(throws: StorageError.self) { try await fake.storage.isEmpty() }
    }

    @Test(
        "A response that is not one of S3 is reported, with nothing of it that a log would mistake"
    )
    func strangers() async throws {
        let fake = try FakeStorage()
        fake.server.meet([.status(403, code: "a\nb<script>" + String(repeating: "x", count: 500))])
        let error = await #expect(throws: StorageError.self) { try await fake.store(Data([1])) }
        #expect(error?.message.contains("\n") == false)
        #expect((error?.message.utf8.count ?? 0) < 400)
        fake.server.meet([.status(200, code: "")])
        await #expect(throws: StorageError.self) { try await fake.storage.isEmpty() }
    }

    @Test("A lost response to the last request of an upload in parts does not lose the upload")
    func lostCompletion() async throws {
        let fake = try FakeStorage()
        fake.server.meet([.lostAfter]) { $0.method == "POST" && $0.url.contains("uploadId") }
        let kept = try await fake.store(bytes)
        #expect(try await AssetStorageConformance.read(kept.checksum, fake.storage) == bytes)
        #expect(fake.server.uploads == 0)
    }

    @Test("An error in a response with the status of success is noticed")
    func lateError() async throws {
        let fake = try FakeStorage()
        let isLast: @Sendable (S3SignedRequest) -> Bool = {
            $0.method == "POST" && $0.url.contains("uploadId")
        }
        fake.server.meet([.status(200, code: "InternalError")], where: isLast)
        let kept = try await fake.store(bytes)
        #expect(try await AssetStorageConformance.read(kept.checksum, fake.storage) == bytes)
        #expect(fake.waits.numbers == [1])
        fake.server.meet([.status(200, code: "InvalidPart")], where: isLast)
        await #expect(throws: StorageError.self) { try await fake.store(bytes.dropLast()) }
        #expect(fake.server.uploads == 0)
    }

    @Test(
        "A download whose connection is lost goes on with the next byte",
        arguments: [false, true]
    )
    func resumed(silently: Bool) async throws {
        let fake = try FakeStorage()
        let kept = try await fake.store(bytes)
        fake.server.meet([
            .cut(100_000, silently: silently), .cut(0, silently: silently), .lost,
            .cut(1, silently: silently),
        ]) { $0.method == "GET" }
        #expect(try await AssetStorageConformance.read(kept.checksum, fake.storage) == bytes)
        let ranges = fake.server.signed.compactMap { request in
            request.headers.first { $0.name == "range" }?.value
        }
        #expect(ranges.first == "bytes=100000-" && ranges.last == "bytes=100001-")
    }

    @Test("A download that is removed meanwhile, or lost too often, ends with an error")
    func lostDownload() async throws {
        let fake = try FakeStorage()
        let kept = try await fake.store(bytes)
        fake.server.meet(Array(repeating: .cut(0, silently: true), count: 50))
        let error = await #expect(throws: StorageError.self) {
            try await AssetStorageConformance.read(kept.checksum, fake.storage)
        }
        #expect(error?.code == .busy)
    }

    @Test("A changed, truncated or extended object is noticed before its last piece is out")
    func damage() async throws {
        let changes: [@Sendable (inout Data) -> Void] = [
            { $0[$0.startIndex] ^= 1 }, { $0[$0.endIndex - 1] ^= 1 }, { $0.removeLast() },
            { $0.append(0) }, { $0.removeAll() },
        ]
        for count in [1000, 250_000] {
            for change in changes {
                let fake = try FakeStorage()
                let kept = try await fake.store(AssetStorageConformance.bytes(count))
                fake.server.change(try #require(fake.server.keys.first), change)
                var found = 0
                let error = await #expect(throws: StorageError.self) {
                    let contents = try #require(try await fake.storage.open(kept.checksum))
                    for try await piece in contents.chunks { found += piece.count }
                }
                #expect(error?.code == .corrupt)
                #expect(found < count)
                // Another upload mends it.
                _ = try await fake.store(AssetStorageConformance.bytes(count))
                #expect(try await fake.storage.open(kept.checksum) != nil)
            }
        }
    }
}
#endif
