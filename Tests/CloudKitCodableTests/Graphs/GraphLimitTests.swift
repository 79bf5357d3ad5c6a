import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

@Suite("Graphs: limits and cancellation")
struct GraphLimitTests {
    static let zoneID = CKRecordZone.ID(zoneName: "World")

    struct Large: CloudKitModel, Sendable {
        var small = "x"
        var medium = Data(count: 300_000)
        var large = Data(count: 800_000)
        @CloudKitValue var file: CKAsset?
        var recordName: String { "r" }
    }

    @Test(
        "A record over the limit is refused before anything is sent, with its largest fields",
        arguments: CloudFixture.allCases
    )
    func size(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let script = ScriptedTransport()
            let database = try await cloud.database(
                of: try await cloud.addUser(),
                transport: script.over
            )
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await database.save(Large(), in: Self.zoneID)
            }
            #expect(error?.code == .limitExceeded)
            #expect(error?.recordType == "Large" && error?.recordID?.recordName == "r")
            let message = error?.message ?? ""
            #expect(message.contains("large (800005 bytes), medium (300006 bytes), small"))

            // The same record alone, also with a file that would be uploaded first.
            for hasFile in [false, true] {
                let record = try CloudKitRecordEncoder(zoneID: Self.zoneID).encode(Large())
                if hasFile {
                    record["file"] = CKAsset(fileURL: URL(filePath: #filePath))
                }
                let refused = await expectCKError(.limitExceeded) {
                    try await database.save(record)
                }
                let text = refused?.localizedDescription ?? ""
                #expect(text.contains("Record r of type Large"))
                #expect(text.contains("are large (800000 bytes), medium (300000 bytes), "))
            }
            #expect(script.requests(about: "records/modify").isEmpty)
            #expect(script.requests(about: "assets/upload").isEmpty)
        }
    }

    struct Leaf: CloudKitModel, Sendable {
        var number: Int
        var recordName: String { "leaf-\(number)" }
    }

    struct Tree: CloudKitModel, Sendable {
        var leaves: [Leaf]
        var recordName: String { "tree" }
        enum CodingKeys: CodingKey { case leaves }
        static var fields: CloudKitFields {
            [CodingKeys.leaves: .children(via: "tree", .deleteSelf)]
        }

        init(_ count: Int) { leaves = (0..<count).map { Leaf(number: $0) } }
    }

    @Test(
        "750 records may go with one target, and more are refused before anything is sent",
        arguments: [749, 750, 751]
    )
    func cascade(count: Int) async throws {
        let destination = MemoryDestination()
        if count > 750 {
            let error = await #expect(throws: CloudKitGraphError.self) {
                try await destination.save(Tree(count), in: Self.zoneID)
            }
            #expect(error?.code == .limitExceeded)
            #expect(error?.message.contains("tree") == true)
            #expect(destination.requests.isEmpty)
        } else {
            let graph = try await destination.save(Tree(count), in: Self.zoneID)
            #expect(graph.records.count == count + 1)
            #expect(destination.requests.reduce(0, +) == count + 1)
        }
    }

    @Test("Records that did not change count among those that go with a target")
    func knownCascade() async throws {
        let destination = MemoryDestination()
        let tree = try CloudKitGraphEncoder(zoneID: Self.zoneID).encode(Tree(750))
        let error = await #expect(throws: CloudKitGraphError.self) {
            try await destination.save(Tree(751), in: Self.zoneID, onto: tree.records)
        }
        #expect(error?.code == .limitExceeded)
        #expect(destination.requests.isEmpty)
    }

    // MARK: Cancellation

    /// Cancels a task when the request with a number reaches an endpoint, and returns the task's
    /// error and the number of such requests.
    private func cancelling(
        _ number: Int,
        of path: String,
        _ cloud: Cloud,
        _ user: TestCloud.User,
        _ work: @escaping @Sendable (CKDatabase) async throws -> Void
    ) async throws -> (error: (any Error)?, requests: Int) {
        let task = Mutex<Task<Void, any Error>?>(nil)
        let count = Mutex(0)
        let script = ScriptedTransport { request, _ in
            guard request.isAbout(path) else { return nil }
            let isIt = count.withLock { count in
                count += 1
                return count == number
            }
            if isIt { task.withLock { $0?.cancel() } }
            return nil
        }
        let database = try await cloud.database(of: user, transport: script.over)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let started = Task {
            for await _ in gate { break }
            try await work(database)
        }
        task.withLock { $0 = started }
        open.yield()
        var failure: (any Error)?
        do { try await started.value } catch { failure = error }
        return (failure, script.requests(about: path).count)
    }

    private func isCancellation(_ error: (any Error)?) -> Bool {
        error is CancellationError || (error as? CKError)?.code == .operationCancelled
    }

    @Test(
        "Cancelling the task of a load ends it: no request follows",
        arguments: CloudFixture.allCases
    )
    func cancelledLoad(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            try await phone.save(CKRecordZone(zoneID: Self.zoneID))
            let rootID = try await phone.save(Atlas.sample(), in: Self.zoneID).rootID
            for number in 1...3 {
                let (error, requests) = try await cancelling(
                    number,
                    of: "records/lookup",
                    cloud,
                    user
                ) { _ = try await $0.graph(Atlas.self, for: rootID) }
                #expect(isCancellation(error), "\(String(describing: error))")
                #expect(requests == number)
            }
        }
    }

    @Test(
        "Cancelling the task of a save ends it: no request follows, and what was saved is known",
        arguments: CloudFixture.allCases
    )
    func cancelledSave(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            try await phone.save(CKRecordZone(zoneID: Self.zoneID))
            let atlas = Atlas.sample(countries: 50, timeZones: 10)
            let saved = Mutex(-1)
            let (error, requests) = try await cancelling(2, of: "records/modify", cloud, user) {
                let rootID = CKRecord.ID(recordName: atlas.recordName, zoneID: Self.zoneID)
                var graph = CloudKitGraph(root: atlas, rootID: rootID, records: [])
                defer { saved.withLock { $0 = graph.records.count } }
                try await $0.save(&graph)
            }
            #expect(isCancellation(error), "\(String(describing: error))")
            #expect(requests == 2)
            #expect(saved.withLock { $0 } == 200)
        }
    }
}
