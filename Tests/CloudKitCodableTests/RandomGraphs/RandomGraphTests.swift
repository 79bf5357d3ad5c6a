import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

/// Random edits of values made of models, saved and loaded over HTTP.
///
/// `Scripts/random-graphs` runs more of them than the tests do.
@Suite("Random graphs")
struct RandomGraphTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    static let editsOfSeed = 250

    static var seeds: ClosedRange<UInt64> {
        let first = UInt64(number("CLOUDKIT_GRAPH_FIRST_SEED") ?? 1)
        let edits = number("CLOUDKIT_GRAPH_EDITS") ?? 2_000
        return first...(first + UInt64(max(1, edits / editsOfSeed)) - 1)
    }

    @Test("What was edited and saved is what another device loads", arguments: seeds)
    func edits(seed: UInt64) async throws {
        try await CloudFixture.overHTTP.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let zone = try await phone.save(CKRecordZone(zoneName: "Libraries"))
            var trial = GraphTrial(
                editing: LibraryEditing(seed: seed),
                phone: phone,
                laptop: try await cloud.database(of: user),
                zoneID: zone.zoneID
            )
            try await trial.run(edits: Self.editsOfSeed)
        }
    }

    @Test(
        "What is edited while it moves between two graphs is what another device loads",
        arguments: seeds
    )
    func moves(seed: UInt64) async throws {
        try await CloudFixture.overHTTP.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let zone = try await phone.save(CKRecordZone(zoneName: "Libraries"))
            var trial = MovingTrial(
                sides: (LibraryEditing(seed: seed), LibraryEditing(seed: seed + 1_000_000_000)),
                phone: phone,
                laptop: try await cloud.database(of: user),
                zoneID: zone.zoneID
            )
            do {
                try await trial.run(moves: Self.editsOfSeed / 5)
            } catch {
                Issue.record("seed \(seed), after \(trial.done) moves: \(error)")
            }
        }
    }
}

/// One library, edited on one device and read on another.
private struct GraphTrial {
    var editing: LibraryEditing
    let phone: CKDatabase
    let laptop: CKDatabase
    let zoneID: CKRecordZone.ID

    private var graph: CloudKitGraph<Library>?

    /// The records to which another app's version added a field, and what it holds.
    private var marks: [CKRecord.ID: Int] = [:]

    private static let foreignField = "addedByNewerVersion"

    init(editing: LibraryEditing, phone: CKDatabase, laptop: CKDatabase, zoneID: CKRecordZone.ID) {
        (self.editing, self.phone, self.laptop, self.zoneID) = (editing, phone, laptop, zoneID)
    }

    mutating func run(edits: Int) async throws {
        var done = 0
        while done < edits {
            let count = Int.random(in: 1...4, using: &editing.random)
            for _ in 0..<count { editing.edit() }
            done += count
            let deletes = editing.random.chance(30)
            do {
                try await save(deletingOrphans: deletes)
                try await compare(deletedOrphans: deletes)
            } catch {
                Issue.record("\(editing.library.id), after \(done) edits: \(error)")
                return
            }
        }
    }

    // MARK: Saving

    private mutating func save(deletingOrphans: Bool) async throws {
        guard var known = graph else {
            graph = try await phone.save(editing.library, in: zoneID)
            return
        }
        known.root = editing.library
        if editing.random.chance(50) {
            try await phone.save(&known, deletingOrphans: deletingOrphans)
            graph = known
        } else {
            graph = try await phone.save(
                editing.library,
                in: zoneID,
                onto: known.records,
                deletingOrphans: deletingOrphans
            )
        }
    }

    // MARK: Comparing

    private mutating func compare(deletedOrphans: Bool) async throws {
        let expected = editing.library
        let rootID = CKRecord.ID(recordName: expected.id, zoneID: zoneID)
        let loaded = try await laptop.graph(Library.self, for: rootID)
        try require(loaded.root == expected, "the loaded value is another")

        let records = try await allRecords()
        let decoded = try CloudKitGraphDecoder().decode(
            Library.self,
            from: records.map(\.value),
            root: rootID
        )
        try require(decoded == expected, "the value of the zone's records is another")
        try check(records, deletedOrphans)

        if editing.random.chance(25) {
            try await mark(records)
            graph = try await phone.graph(Library.self, for: rootID)
            editing.forgetRemoved()
        }
    }

    /// Looks at the records themselves: what is gone refers to nothing, and nothing else changed.
    private mutating func check(
        _ records: [CKRecord.ID: CKRecord],
        _ deletedOrphans: Bool
    ) throws {
        let names = editing.library.recordNames
        let missing = names.subtracting(records.keys.map(\.recordName))
        try require(missing.isEmpty, "records are missing: \(missing.sorted())")
        for (recordID, record) in records where !names.contains(recordID.recordName) {
            for field in ["library", "archivedIn", "shelf", "book"] {
                guard let owner = record[field] as? CKRecord.Reference else { continue }
                let isReached = names.contains(owner.recordID.recordName)
                try require(!isReached, "\(recordID.recordName) still refers by \(field)")
            }
            if let parent = record.parent?.recordID.recordName {
                try require(!names.contains(parent), "\(recordID.recordName) still has a parent")
            }
        }
        for (recordID, mark) in marks {
            guard let record = records[recordID] else {
                let isReached = names.contains(recordID.recordName)
                try require(!isReached, "\(recordID.recordName) is gone")
                marks[recordID] = nil
                continue
            }
            let kept = record[Self.foreignField] as? Int
            try require(kept == mark, "\(recordID.recordName) lost what another version added")
        }
    }

    /// Writes a field of which the models know nothing.
    private mutating func mark(_ records: [CKRecord.ID: CKRecord]) async throws {
        let ids = records.keys.sorted { $0.recordName < $1.recordName }
        guard let id = ids.randomElement(using: &editing.random), let record = records[id] else {
            return
        }
        let value = Int.random(in: 0...1_000, using: &editing.random)
        record[Self.foreignField] = value
        _ = try await laptop.save(record)
        marks[id] = value
    }

    private func require(_ isTrue: Bool, _ message: @autoclosure () -> String) throws {
        if !isTrue { throw Difference(description: message()) }
    }

    /// What differs, without printing the values, which are large.
    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private func allRecords() async throws -> [CKRecord.ID: CKRecord] {
        var records: [CKRecord.ID: CKRecord] = [:]
        var token: CKServerChangeToken?
        var moreComing = true
        while moreComing {
            let page = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (id, result) in page.modificationResultsByID {
                records[id] = try result.get().record
            }
            (token, moreComing) = (page.changeToken, page.moreComing)
        }
        return records
    }
}
