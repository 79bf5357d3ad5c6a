import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Transfers of assets", .timeLimit(.minutes(10)))
struct AssetTransferTests {
    private static let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func file(_ bytes: Data = bytes) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try bytes.write(to: url)
        return url
    }

    private func photo(_ source: URL, _ name: String = "p") -> CKRecord {
        let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: name))
        record["file"] = CKAsset(fileURL: source)
        return record
    }

    @Test("A large file goes in pieces: progress is reported between its ends, both ways")
    func pieces() async throws {
        let source = try file()
        defer { try? FileManager.default.removeItem(at: source) }
        try await CloudFixture.overHTTP.run { cloud in
            let client = try await cloud.client(of: try await cloud.addUser())
            let up = Fractions()
            let token = try await client.uploadTokens(
                for: [.init(recordName: "p", recordType: "Photo", fieldName: "file")],
                zoneID: .defaultZone,
                in: .private
            )[0]
            let asset = try await client.upload(source, to: token) { up.note($0) }
            #expect(asset.size == Int64(Self.bytes.count))
            // Pieces of a stream, not one block: reports arrive before the end, and increase.
            #expect(up.all.filter { $0 < 1 }.count >= 3)
            #expect(up.all == up.all.sorted() && up.all.last == 1)
        }
    }

    @Test(
        "An upload that is cut off fails, leaves the record as it was, and succeeds when repeated",
        arguments: CloudFixture.allCases
    )
    func uploadAgain(_ fixture: CloudFixture) async throws {
        let source = try file()
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let device = try await cloud.device(of: user) { BreakingTransport($0, uploads: 1) }
            let record = photo(source)
            let error = await #expect(throws: CKError.self) {
                try await device.privateCloudDatabase.save(record)
            }
            #expect(error?.code == .networkFailure)
            #expect(record.recordChangeTag == nil)
            #expect(record.changedKeys() == ["file"])
            try await device.privateCloudDatabase.save(record)
            let fetched = try await cloud.database(of: user).record(for: record.recordID)
            let url = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == Self.bytes)
        }
    }

    @Test(
        "A file that the service has no more is assetNotAvailable for its record alone",
        arguments: CloudFixture.allCases
    )
    func lostFile(_ fixture: CloudFixture) async throws {
        let (source, other) = (try file(), try file(Data("other".utf8)))
        defer { for file in [source, other] { try? FileManager.default.removeItem(at: file) } }
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(photo(source))
            try await database.save(photo(other, "q"))
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.error(.notFound), operation: "assets/fetch", call: 1)])
            )
            let ids = ["p", "q"].map { CKRecord.ID(recordName: $0) }
            let results = try await database.records(for: ids)
            var codes: [CKError.Code] = []
            for result in results.values {
                do {
                    #expect((try result.get()["file"] as? CKAsset)?.fileURL != nil)
                } catch let error as CKError {
                    codes.append(error.code)
                }
            }
            #expect(codes == [.assetNotAvailable])
        }
    }

    @Test(
        "A download that is cut off fails its record, leaves no file, and succeeds when repeated",
        arguments: CloudFixture.allCases
    )
    func downloadAgain(_ fixture: CloudFixture) async throws {
        let source = try file()
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let record = photo(source)
            try await cloud.database(of: user).save(record)
            let files = Files()
            let device = try await cloud.device(of: user) {
                BreakingTransport($0, downloads: 1, files: files)
            }
            let database = device.privateCloudDatabase
            await expectCKError(.networkFailure) {
                try await database.record(for: record.recordID)
            }
            #expect(files.all.count == 1 && files.existing.isEmpty)
            let fetched = try await database.record(for: record.recordID)
            let url = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == Self.bytes)
            #expect(files.existing == [url])
        }
    }

    @Test(
        "A downloaded file goes with the last record that holds it; one that was moved stays",
        arguments: CloudFixture.allCases
    )
    func cleaning(_ fixture: CloudFixture) async throws {
        let source = try file(Data("small".utf8))
        let other = try file(Data("other".utf8))
        defer {
            try? FileManager.default.removeItem(at: source)
            try? FileManager.default.removeItem(at: other)
        }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            try await database.save(photo(source, "a"))
            try await database.save(photo(other, "b"))
            let files = Files()
            let device = try await cloud.device(of: user) {
                BreakingTransport($0, files: files)
            }
            let kept = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: kept) }
            do {
                let ids = ["a", "b"].map { CKRecord.ID(recordName: $0) }
                let records = try await device.privateCloudDatabase.records(for: ids)
                #expect(files.existing.count == 2)
                let asset = try records[ids[0]]?.get()["file"] as? CKAsset
                let url = try #require(asset?.fileURL)
                try FileManager.default.moveItem(at: url, to: kept)
            }
            #expect(files.all.count == 2)
            // A task of the download may still be ending.
            while !files.existing.isEmpty { await Task.yield() }
            #expect(try Data(contentsOf: kept) == Data("small".utf8))
            // The app's own file must not be removed.
            #expect(FileManager.default.fileExists(atPath: source.path))
        }
    }
}

private final class Fractions: Sendable {
    private let fractions = Mutex<[Double]>([])

    var all: [Double] { fractions.withLock { $0 } }

    func note(_ fraction: Double) { fractions.withLock { $0.append(fraction) } }
}

/// The destinations of downloads.
private final class Files: Sendable {
    private let files = Mutex<[URL]>([])

    var all: [URL] { files.withLock { $0 } }
    var existing: [URL] { all.filter { FileManager.default.fileExists(atPath: $0.path) } }

    func note(_ file: URL) {
        files.withLock { $0.append(file) }
    }
}

/// Interrupts the first transfers, and records the destinations of files.
private final class BreakingTransport: PassingTransport {
    let base: any Transport
    private let left: Mutex<(uploads: Int, downloads: Int)>
    private let files: Files

    init(
        _ base: any Transport,
        uploads: Int = 0,
        downloads: Int = 0,
        files: Files = Files()
    ) {
        self.base = base
        left = Mutex((uploads, downloads))
        self.files = files
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        let breaks = left.withLock { left in
            left.uploads -= 1
            return left.uploads >= 0
        }
        guard !breaks else {
            progress(0.5)
            throw TransportError(.broken, message: "The upload broke off")
        }
        return try await base.upload(file, to: url, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        files.note(file)
        let breaks = left.withLock { left in
            left.downloads -= 1
            return left.downloads >= 0
        }
        guard !breaks else {
            throw TransportError(.broken, message: "The download broke off")
        }
        try await base.download(url, to: file, progress: progress)
    }
}
