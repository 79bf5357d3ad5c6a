import CloudKit
import Foundation
import Support
import Synchronization
import Testing

/// The pages of a query while records change.
@Suite("Pages while records change", .timeLimit(.minutes(5)))
struct PagingTests {
    private static let zone = CKRecordZone(zoneName: "A")

    private static func record(_ index: Int, _ number: Int) -> CKRecord {
        let record = CKRecord(
            recordType: "Item",
            recordID: CKRecord.ID(recordName: "r\(index)", zoneID: zone.zoneID)
        )
        record["n"] = number
        record["fixed"] = index
        record["s"] = "word\(number % 3) and more"
        record["ls"] = ["a\(number % 3)", "b"]
        return record
    }

    /// Reads all pages; between them, records get other values that match as well.
    private func pages(
        _ format: String,
        sort: [String] = [],
        seed: UInt64
    ) async throws -> [String: Int] {
        let counts = Counts()
        try await CloudFixture.inProcess.run { cloud in
            var chance = SeededRandom(seed: seed)
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            _ = try await database.modifyRecords(
                saving: (0..<60).map { Self.record($0, 10 + $0) },
                deleting: []
            )
            let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: format))
            query.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
            var (matches, cursor) = try await database.records(
                matching: query,
                inZoneWith: Self.zone.zoneID,
                resultsLimit: 7
            )
            counts.add(matches.map(\.0.recordName))
            while let next = cursor {
                let moved = (0..<10).map { _ in
                    Self.record(
                        Int.random(in: 0..<60, using: &chance),
                        Int.random(in: 1...200, using: &chance)
                    )
                }
                let last = Dictionary(moved.map { ($0.recordID, $0) }) { $1 }
                let (saved, _) = try await database.modifyRecords(
                    saving: Array(last.values),
                    deleting: [],
                    savePolicy: .allKeys
                )
                for result in saved.values { _ = try result.get() }
                (matches, cursor) = try await database.records(
                    continuingMatchFrom: next,
                    resultsLimit: 7
                )
                counts.add(matches.map(\.0.recordName))
            }
        }
        return counts.all
    }

    @Test(
        "Without an order each record comes once, whatever changes in it",
        arguments: [
            "TRUEPREDICATE", "n > 0", "n BETWEEN {1, 1000}", "NOT n < 0",
            "ANY ls IN {'a0', 'a1', 'a2'}",
            "self CONTAINS 'word0 word1 word2'", "ls CONTAINS 'b'", "s BEGINSWITH 'w'",
            "recordID != 'none'",
        ]
    )
    func withoutOrder(format: String) async throws {
        for seed in UInt64(1)...3 {
            let counts = try await pages(format, seed: seed)
            #expect(counts.count == 60, "seed \(seed)")
            #expect(counts.values.allSatisfy { $0 == 1 }, "seed \(seed): \(counts)")
        }
    }

    @Test(
        "In an order each record comes once that keeps its place in it",
        arguments: ["TRUEPREDICATE", "n > 0", "ls CONTAINS 'b'"]
    )
    func inOrder(format: String) async throws {
        for seed in UInt64(1)...3 {
            let counts = try await pages(format, sort: ["fixed"], seed: seed)
            #expect(counts.count == 60, "seed \(seed)")
            #expect(counts.values.allSatisfy { $0 == 1 }, "seed \(seed): \(counts)")
        }
    }
}

/// The number of times that each record was returned.
private final class Counts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    var all: [String: Int] { counts.withLock { $0 } }

    func add(_ names: [String]) {
        counts.withLock { counts in
            for name in names { counts[name, default: 0] += 1 }
        }
    }
}
