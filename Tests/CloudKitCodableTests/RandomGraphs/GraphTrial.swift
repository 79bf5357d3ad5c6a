import CloudKit
import CloudKitCodable
import Foundation
import Support
import Testing

/// One library, edited on one device and read on another.
struct GraphTrial {
    var editing: LibraryEditing
    let phone: CKDatabase
    let laptop: CKDatabase
    let zoneID: CKRecordZone.ID

    private var graph: CloudKitGraph<Library>?

    /// The records to which another app version added a field, and the field's value.
    private var marks: [CKRecord.ID: Int] = [:]

    /// The zone's records that the laptop knows from the change feed, and its position in the feed.
    private var records: [CKRecord.ID: CKRecord] = [:]
    private var token: CKServerChangeToken?

    /// The names of the records that the zone must have.
    private var names: Set<String> = []

    /// The number of reads of the library as types that were new to the process.
    private var readings: UInt64 = 0

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
                try await compare()
            } catch {
                Issue.record("\(editing.library.id), after \(done) edits: \(error)")
                return
            }
        }
    }

    // MARK: Saving

    private mutating func save(deletingOrphans: Bool) async throws {
        let reached = editing.library.recordNames
        if deletingOrphans, let graph {
            names.subtract(graph.records.map(\.recordID.recordName))
        }
        names.formUnion(reached)
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

    private mutating func compare() async throws {
        let expected = editing.library
        let rootID = CKRecord.ID(recordName: expected.id, zoneID: zoneID)
        // A device always reads the zone's changes, and sometimes loads the graph, which takes most
        // of the time.
        if editing.random.chance(40) {
            let loaded = try await laptop.graph(Library.self, for: rootID)
            try require(loaded.root == expected, "the loaded value is another")
            let known = Set(loaded.records.map(\.recordID.recordName))
            try require(known == expected.recordNames, "the loaded graph has other records")
        }
        if editing.random.chance(15) {
            readings += 1
            try await read(at: readingTime(editing.seed * 1_000 + readings))
        }

        try await readChanges()
        let decoded = try CloudKitGraphDecoder().decode(
            Library.self,
            from: records.values,
            root: rootID
        )
        try require(decoded == expected, "the value of the zone's records is another")
        try checkRecords()

        if editing.random.chance(25) {
            try await editElsewhere()
            let graph = try await phone.graph(Library.self, for: rootID)
            try require(graph.root == editing.library, "what was edited elsewhere is not loaded")
            self.graph = graph
            editing.forgetRemoved()
        }
    }

    /// Loads the library as types that are new to this process.
    private func read<Time: ReadingTime>(at time: Time.Type) async throws {
        let rootID = CKRecord.ID(recordName: editing.library.id, zoneID: zoneID)
        let loaded = try await laptop.graph(WholeReading<Time>.self, for: rootID)
        let value = loaded.root.original.value
        try require(value == editing.library, "the value that unknown types load is another")
        let known = Set(loaded.records.map(\.recordID.recordName))
        let expected = editing.library.recordNames
        try require(known == expected, "the graph that unknown types load has other records")
    }

    /// Checks the records themselves: deleted ones refer to nothing, and nothing else changed.
    private mutating func checkRecords() throws {
        let library = editing.library
        let reached = library.recordNames
        let found = Set(records.keys.map(\.recordName))
        try require(
            found == names,
            "other records than there must be: \(found.symmetricDifference(names).sorted())"
        )
        let parents = library.parentNames
        for (recordID, record) in records {
            let name = recordID.recordName
            let parent = record.parent?.recordID.recordName
            guard !reached.contains(name) else {
                try require(parent == parents[name], "\(name) has another parent")
                continue
            }
            for field in ["library", "archivedIn", "shelf", "book", "prefaceOf", "catalogOf"] {
                guard let owner = record[field] as? CKRecord.Reference else { continue }
                let isReached = reached.contains(owner.recordID.recordName)
                try require(!isReached, "\(name) still refers by \(field)")
            }
            if let parent { try require(!reached.contains(parent), "\(name) still has a parent") }
        }
        for (recordID, mark) in marks {
            guard let record = records[recordID] else {
                marks[recordID] = nil
                continue
            }
            let kept = record[Self.foreignField] as? Int
            try require(kept == mark, "\(recordID.recordName) lost what another version added")
        }
    }

    // MARK: The other device

    /// Changes one record on the other device: a field that the models do not know, or one model that
    /// is read and written separately.
    private mutating func editElsewhere() async throws {
        if editing.random.chance(50) { return try await mark() }
        switch editing.editAlone() {
        case let shelf as Shelf:
            let recordID = CKRecord.ID(recordName: shelf.id, zoneID: zoneID)
            var graph = try await laptop.graph(Shelf.self, for: recordID)
            graph.root = shelf
            try await laptop.save(&graph)
        case let model?:
            let recordID = CKRecord.ID(recordName: model.recordName, zoneID: zoneID)
            let record = try await laptop.record(for: recordID)
            try CloudKitRecordEncoder().encode(model, onto: record)
            try await laptop.save(record)
        case nil: break
        }
    }

    /// Writes a field that the models do not know.
    private mutating func mark() async throws {
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

    /// A difference, without the values, which are large.
    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// Follows the zone, as a device does.
    private mutating func readChanges() async throws {
        var moreComing = true
        while moreComing {
            let page = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (id, result) in page.modificationResultsByID {
                records[id] = try result.get().record
            }
            for deletion in page.deletions { records[deletion.recordID] = nil }
            (token, moreComing) = (page.changeToken, page.moreComing)
        }
    }
}
