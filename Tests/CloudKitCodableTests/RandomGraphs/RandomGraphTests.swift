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
        let edits = number("CLOUDKIT_GRAPH_EDITS") ?? 500
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

    @Test(
        "What is edited or undone after a save that was cut off is what another device loads",
        arguments: seeds
    )
    func unanswered(seed: UInt64) async throws {
        try await CloudFixture.overHTTP.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let zone = try await phone.save(CKRecordZone(zoneName: "Libraries"))
            var trial = UnansweredTrial(
                editing: LibraryEditing(seed: seed),
                phone: phone,
                laptop: try await cloud.database(of: user),
                zoneID: zone.zoneID
            )
            do {
                try await trial.run(saves: Self.editsOfSeed / 10)
            } catch {
                Issue.record("seed \(seed), after \(trial.done) saves: \(error)")
            }
        }
    }
}
