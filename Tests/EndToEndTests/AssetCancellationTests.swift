import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Transfers of assets that are cancelled or cut", .timeLimit(.minutes(10)))
struct AssetCancellationTests {
    private static let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private static let zoneID = CKRecordZone.ID(zoneName: "Photos")

    /// File transfers that never complete during a test.
    private static let slow = FaultPlan(rules: [
        FaultRule(.slowResponse(bytesPerSecond: 20_000), operation: "assets/fetch"),
        FaultRule(.delay(milliseconds: 50_000), operation: "assets/send"),
    ])

    private struct Scene: Sendable {
        let cloud: Cloud
        let user: TestCloud.User
        let watch: Watch
        let database: CKDatabase
        let source: URL

        func photo(_ name: String, in zoneID: CKRecordZone.ID = .default) -> CKRecord {
            let record = CKRecord(
                recordType: "Photo",
                recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
            )
            record["file"] = CKAsset(fileURL: source)
            return record
        }

        /// Returns the database on another device of the user, with an undisturbed transport.
        func other() async throws -> CKDatabase { try await cloud.database(of: user) }
    }

    private func scene(
        _ fixture: CloudFixture,
        _ body: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        let source = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try Self.bytes.write(to: source)
        defer { try? FileManager.default.removeItem(at: source) }
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            // In process a file arrives in one piece: only its beginning can be observed.
            let watch = Watch(waitsForProgress: fixture == .overHTTP)
            let database = try await cloud.database(of: user) { WatchedTransport($0, watch) }
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            try await body(
                Scene(cloud: cloud, user: user, watch: watch, database: database, source: source)
            )
            cloud.setFaults(nil)
        }
    }

    private func contents(_ record: CKRecord) throws -> Data {
        let url = try #require((record["file"] as? CKAsset)?.fileURL)
        return try Data(contentsOf: url)
    }

    // MARK: Tasks

    @Test(
        "A cancelled download is operationCancelled, leaves no file, and succeeds when repeated",
        arguments: CloudFixture.allCases
    )
    func download(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            let recordID = scene.photo("p").recordID
            try await scene.other().save(scene.photo("p"))
            scene.cloud.setFaults(Self.slow)
            let task = Task { try await scene.database.record(for: recordID) }
            await scene.watch.untilUnderWay()
            task.cancel()
            await expectCKError(.operationCancelled) { try await task.value }
            #expect(scene.watch.files.count == 1 && scene.watch.existing.isEmpty)

            scene.cloud.setFaults(nil)
            #expect(try contents(try await scene.database.record(for: recordID)) == Self.bytes)
            // A file that was handed out stays.
            #expect(scene.watch.existing.count == 1)
        }
    }

    @Test(
        "A cancelled upload is operationCancelled, stores nothing, and succeeds when repeated",
        arguments: CloudFixture.allCases
    )
    func upload(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            let record = scene.photo("p")
            scene.cloud.setFaults(Self.slow)
            let task = Task { try await scene.database.save(record) }
            await scene.watch.untilUnderWay()
            task.cancel()
            await expectCKError(.operationCancelled) { try await task.value }
            #expect(record.recordChangeTag == nil && record.changedKeys() == ["file"])
            #expect(FileManager.default.fileExists(atPath: scene.source.path))

            scene.cloud.setFaults(nil)
            let other = try await scene.other()
            await expectCKError(.unknownItem) { try await other.record(for: record.recordID) }
            try await scene.database.save(record)
            #expect(try contents(try await other.record(for: record.recordID)) == Self.bytes)
        }
    }

    // MARK: Operations

    @Test(
        "A cancelled fetch reports the outcome of each record, and ends as cancelled",
        arguments: CloudFixture.allCases
    )
    func fetchOperation(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            let plain = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "plain"))
            let photo = scene.photo("photo")
            _ = try await scene.other().modifyRecords(saving: [plain, photo], deleting: [])
            scene.cloud.setFaults(Self.slow)
            let log = Log()
            let fetch = CKFetchRecordsOperation(recordIDs: [plain.recordID, photo.recordID])
            fetch.perRecordResultBlock = { log.note("\($0.recordName): \(outcome($1))") }
            fetch.fetchRecordsResultBlock = { log.note("end: \(outcome($0))") }
            await cancel(fetch, scene)
            #expect(
                log.all == [
                    "plain: success", "photo: operationCancelled", "end: operationCancelled",
                ]
            )
            #expect(scene.watch.existing.isEmpty)
        }
    }

    @Test(
        "A cancelled save stores nothing, and no record's block says it was saved",
        arguments: CloudFixture.allCases,
        [CKRecordZone.ID.default, zoneID]
    )
    func modifyOperation(_ fixture: CloudFixture, _ zoneID: CKRecordZone.ID) async throws {
        try await scene(fixture) { scene in
            let plain = CKRecord(
                recordType: "Photo",
                recordID: CKRecord.ID(recordName: "plain", zoneID: zoneID)
            )
            let photo = scene.photo("photo", in: zoneID)
            scene.cloud.setFaults(Self.slow)
            let log = Log()
            let save = CKModifyRecordsOperation(recordsToSave: [plain, photo])
            save.perRecordSaveBlock = { log.note("\($0.recordName): \(outcome($1))") }
            save.modifyRecordsResultBlock = { log.note("end: \(outcome($0))") }
            await cancel(save, scene)
            #expect(log.all.last == "end: operationCancelled", "\(log.all)")
            #expect(!log.all.contains { $0.hasSuffix("success") }, "\(log.all)")

            scene.cloud.setFaults(nil)
            let other = try await scene.other()
            for record in [plain, photo] {
                #expect(record.recordChangeTag == nil)
                await expectCKError(.unknownItem) { try await other.record(for: record.recordID) }
            }
            let again = CKModifyRecordsOperation(recordsToSave: [plain, photo])
            await finish([again], on: scene.database)
            #expect(try contents(try await other.record(for: photo.recordID)) == Self.bytes)
        }
    }

    @Test(
        "A cancelled fetch of changes gives no token that passes over the records it did not bring",
        arguments: CloudFixture.allCases
    )
    func changesOperation(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            try await scene.other().save(scene.photo("p", in: Self.zoneID))
            scene.cloud.setFaults(Self.slow)
            let log = Log()
            let fetch = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [Self.zoneID],
                configurationsByRecordZoneID: [:]
            )
            fetch.recordZoneChangeTokensUpdatedBlock = { _, _, _ in log.note("token") }
            fetch.recordWasChangedBlock = { log.note("\($0.recordName): \(outcome($1))") }
            fetch.recordZoneFetchResultBlock = { log.note("zone: \(outcome($1))") }
            fetch.fetchRecordZoneChangesResultBlock = { log.note("end: \(outcome($0))") }
            await cancel(fetch, scene)
            #expect(log.all == ["end: operationCancelled"])
            #expect(scene.watch.existing.isEmpty)

            let task = Task {
                try await scene.database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
            }
            await scene.watch.untilUnderWay()
            task.cancel()
            await expectCKError(.operationCancelled) { try await task.value }
        }
    }

    private func cancel(_ operation: CKDatabaseOperation, _ scene: Scene) async {
        async let end: Void = finish([operation], on: scene.database)
        await scene.watch.untilUnderWay()
        operation.cancel()
        await end
    }

    // MARK: Connections

    @Test(
        "A file that the connection cuts is networkFailure and leaves no part; repeated, it comes",
        arguments: CloudFixture.allCases
    )
    func cutDownload(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            let recordID = scene.photo("p").recordID
            try await scene.other().save(scene.photo("p"))
            scene.cloud.setFaults(
                FaultPlan(rules: [
                    FaultRule(.cutResponse(bytes: 1_000_000), operation: "assets/fetch", call: 1)
                ])
            )
            await expectCKError(.networkFailure) { try await scene.database.record(for: recordID) }
            #expect(scene.watch.files.count == 1 && scene.watch.existing.isEmpty)
            #expect(try contents(try await scene.database.record(for: recordID)) == Self.bytes)
        }
    }

    @Test(
        "An upload whose response is lost stores nothing, and succeeds when repeated",
        arguments: CloudFixture.allCases
    )
    func cutUpload(_ fixture: CloudFixture) async throws {
        try await scene(fixture) { scene in
            let record = scene.photo("p")
            scene.cloud.setFaults(
                FaultPlan(rules: [
                    FaultRule(.resetConnection, operation: "assets/send", call: 1),
                    FaultRule(.lostResponse, operation: "assets/send", call: 2),
                ])
            )
            for _ in 1...2 {
                await expectCKError(.networkFailure) { try await scene.database.save(record) }
                #expect(record.recordChangeTag == nil)
            }
            try await scene.database.save(record)
            let fetched = try await scene.other().record(for: record.recordID)
            #expect(try contents(fetched) == Self.bytes)
        }
    }
}

private func outcome(_ result: Result<some Any, any Error>) -> String {
    switch result {
    case .success: "success"
    case .failure(let error): (error as? CKError).map { "\($0.code)" } ?? "\(error)"
    }
}

/// Records the files that arrive, and reports when a transfer is in flight.
private final class Watch: Sendable {
    private let waitsForProgress: Bool
    private let contents = Mutex<[URL]>([])
    private let starts: AsyncStream<Void>
    private let start: AsyncStream<Void>.Continuation

    init(waitsForProgress: Bool) {
        self.waitsForProgress = waitsForProgress
        (starts, start) = AsyncStream.makeStream()
    }

    /// The destinations of downloads.
    var files: [URL] { contents.withLock { $0 } }
    var existing: [URL] { files.filter { FileManager.default.fileExists(atPath: $0.path) } }

    func untilUnderWay() async {
        for await _ in starts { return }
    }

    func begins(_ file: URL?) {
        if let file { contents.withLock { $0.append(file) } }
        if !waitsForProgress { start.yield() }
    }

    func watching(_ progress: @escaping TransferProgress) -> TransferProgress {
        guard waitsForProgress else { return progress }
        let first = First()
        return { [start] fraction in
            progress(fraction)
            if fraction < 1, first.take() { start.yield() }
        }
    }

    /// A flag that is true once.
    private final class First: Sendable {
        private let isTaken = Atomic(false)

        func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
    }
}

private struct WatchedTransport: Transport {
    private let base: any Transport
    private let watch: Watch

    init(_ base: any Transport, _ watch: Watch) {
        self.base = base
        self.watch = watch
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await base.send(request)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        watch.begins(nil)
        return try await base.upload(file, to: url, progress: watch.watching(progress))
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        watch.begins(file)
        try await base.download(url, to: file, progress: watch.watching(progress))
    }
}
