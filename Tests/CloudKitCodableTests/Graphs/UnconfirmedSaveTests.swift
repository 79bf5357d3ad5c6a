import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Edits of a graph after a save whose response was lost", .serialized)
struct UnansweredSaveTests {
    /// The graph of one device after a save without a response.
    private struct Trial {
        let cloud: Cloud
        let phone: CKDatabase
        let laptop: CKDatabase
        var graph: CloudKitGraph<Album>

        /// Saves, and loses the response to one of the save's requests.
        mutating func saveWithoutResponse(
            losing call: Int = 1,
            deletingOrphans: Bool = false
        ) async throws {
            let rule = FaultRule(.lostResponse, operation: "records/modify", call: call)
            cloud.setFaults(FaultPlan(rules: [rule]))
            defer { cloud.setFaults(nil) }
            await #expect(throws: CKError.self) {
                try await phone.save(&graph, deletingOrphans: deletingOrphans)
            }
        }

        mutating func save(deletingOrphans: Bool = false) async throws {
            try await phone.save(&graph, deletingOrphans: deletingOrphans)
        }

        /// Checks that the other device finds the value, and all records of the zone.
        func expect(
            _ photos: [String],
            title: String = "Summer",
            others: [String] = []
        ) async throws {
            let loaded = try await laptop.graph(Album.self, for: graph.rootID)
            #expect(loaded.root == graph.root)
            #expect(loaded.root.title == title && loaded.root.photos.map(\.id) == photos)
            let changes = try await laptop.recordZoneChanges(
                inZoneWith: graph.rootID.zoneID,
                since: nil
            )
            let names = changes.modificationResultsByID.keys.map(\.recordName)
            #expect(names.sorted() == (["summer"] + photos + others).sorted())
        }
    }

    private func run(
        _ fixture: CloudFixture,
        _ body: @escaping @Sendable (inout Trial) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let zone = try await phone.save(CKRecordZone(zoneName: "Albums"))
            let photos = [Photo(id: "a"), Photo(id: "b")]
            let album = Album(id: "summer", title: "Summer", photos: photos)
            var trial = Trial(
                cloud: cloud,
                phone: phone,
                laptop: try await cloud.database(of: user),
                graph: try await phone.save(album, in: zone.zoneID)
            )
            try await body(&trial)
        }
    }

    @Test(
        "A field that goes back to what it was is what the server has",
        arguments: CloudFixture.allCases
    )
    func field(fixture: CloudFixture) async throws {
        try await run(fixture) { trial in
            trial.graph.root.title = "Winter"
            try await trial.saveWithoutResponse()
            trial.graph.root.title = "Summer"
            try await trial.save()
            try await trial.expect(["a", "b"])
        }
    }

    @Test(
        "A child that came and went again is gone, and its record stays or is deleted",
        arguments: [false, true]
    )
    func newChild(deletesOrphans: Bool) async throws {
        try await run(.overHTTP) { trial in
            trial.graph.root.photos.append(Photo(id: "c"))
            try await trial.saveWithoutResponse()
            trial.graph.root.photos.removeLast()
            try await trial.save(deletingOrphans: deletesOrphans)
            try await trial.expect(["a", "b"], others: deletesOrphans ? [] : ["c"])
        }
    }

    @Test("A child that went and came back is there", arguments: CloudFixture.allCases)
    func formerChild(fixture: CloudFixture) async throws {
        try await run(fixture) { trial in
            let photo = trial.graph.root.photos.removeFirst()
            try await trial.saveWithoutResponse()
            trial.graph.root.photos.insert(photo, at: 0)
            try await trial.save()
            try await trial.expect(["a", "b"])
        }
    }

    @Test(
        "A child that was deleted and came back has a new record",
        arguments: CloudFixture.allCases
    )
    func deletedChild(fixture: CloudFixture) async throws {
        try await run(fixture) { trial in
            let photo = trial.graph.root.photos.removeFirst()
            try await trial.saveWithoutResponse(deletingOrphans: true)
            trial.graph.root.photos.append(photo)
            try await trial.save(deletingOrphans: true)
            try await trial.expect(["b", "a"])
        }
    }

    @Test(
        "What another device made of the record meanwhile is a conflict",
        arguments: CloudFixture.allCases
    )
    func conflict(fixture: CloudFixture) async throws {
        try await run(fixture) { trial in
            trial.graph.root.title = "Winter"
            try await trial.saveWithoutResponse()
            let record = try await trial.laptop.record(for: trial.graph.rootID)
            record["addedByNewerVersion"] = 5
            try await trial.laptop.save(record)
            trial.graph.root.title = "Summer"
            for _ in 1...2 {
                let error = await #expect(throws: CKError.self) { try await trial.save() }
                #expect(error?.code == .serverRecordChanged)
            }
            let newer = try await trial.phone.record(for: trial.graph.rootID)
            let known = trial.graph.records.filter { $0.recordID != newer.recordID } + [newer]
            trial.graph = try await trial.phone.save(
                trial.graph.root,
                in: newer.recordID.zoneID,
                onto: known
            )
            try await trial.expect(["a", "b"])
            let saved = try await trial.laptop.record(for: trial.graph.rootID)
            #expect(saved["addedByNewerVersion"] == 5)
        }
    }

    @Test("A model takes along to another graph what was sent of it")
    func moved() async throws {
        try await run(.overHTTP) { trial in
            trial.graph.root.photos.append(Photo(id: "c"))
            try await trial.save()
            trial.graph.root.photos.swapAt(0, 2)
            try await trial.saveWithoutResponse()
            var other = try await trial.phone.save(
                Album(id: "winter", title: "Winter", photos: []),
                in: trial.graph.rootID.zoneID
            )
            other.root.photos.append(trial.graph.root.photos.removeFirst())
            trial.graph.root.photos.swapAt(0, 1)
            try other.takeRecords(from: &trial.graph)
            try await trial.phone.save(&other)
            try await trial.save()
            try await trial.expect(["a", "b"], others: ["c", "winter"])
            let loaded = try await trial.laptop.graph(Album.self, for: other.rootID)
            #expect(loaded.root == other.root)
        }
    }

    @Test("Nothing is sent twice where the server took what was sent")
    func quiet() async throws {
        try await run(.overHTTP) { trial in
            trial.graph.root.title = "Winter"
            try await trial.saveWithoutResponse()
            let progress = Progress(totalUnitCount: 0)
            try await trial.phone.save(&trial.graph, progress: progress)
            #expect(progress.totalUnitCount == 0)
            try await trial.expect(["a", "b"], title: "Winter")
        }
    }
}
