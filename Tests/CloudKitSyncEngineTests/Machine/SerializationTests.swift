import CloudKit
import Foundation
import Support
import Testing

@Suite("State between two runs")
struct SerializationTests {
    typealias Serialization = CKSyncEngine.State.Serialization

    private static let origin = SyncEngineState.Origin(container: "c", scope: .private)

    private var full: SyncEngineState {
        let notes = CKRecordZone.ID(zoneName: "Notes")
        let theirs = CKRecordZone.ID(zoneName: "Theirs", ownerName: "_bob")
        var state = SyncEngineState()
        state.origin = Self.origin
        state.account = .user("_ada")
        state.subscriptionID = "s"
        state.databaseToken = CKServerChangeToken(text: "d")
        state.zoneTokens = [notes: CKServerChangeToken(text: "n")]
        state.unfetchedZones = [theirs, notes]
        state.sentZones = [theirs]
        state.pendingDatabaseChanges.add(.saveZone(CKRecordZone(zoneID: theirs)))
        state.pendingDatabaseChanges.add(.deleteZone(notes))
        state.pendingRecordZoneChanges.add(.deleteRecord(.init(recordName: "1", zoneID: notes)))
        state.pendingRecordZoneChanges.add(.saveRecord(.init(recordName: "2", zoneID: theirs)))
        state.hasPendingUntrackedChanges = true
        return state
    }

    private func expectFull(_ serialization: Serialization) throws {
        let (state, problem) = SyncEngineState.restored(from: serialization, origin: Self.origin)
        #expect(problem == nil)
        #expect(state.account == full.account)
        #expect(state.subscriptionID == full.subscriptionID)
        #expect(state.databaseToken == full.databaseToken)
        #expect(state.zoneTokens == full.zoneTokens)
        #expect(state.unfetchedZones == full.unfetchedZones)
        #expect(state.sentZones == full.sentZones)
        #expect(state.pendingDatabaseChanges.elements == full.pendingDatabaseChanges.elements)
        #expect(state.pendingRecordZoneChanges.elements == full.pendingRecordZoneChanges.elements)
        #expect(state.hasPendingUntrackedChanges)
    }

    @Test("Every part survives JSON and property lists")
    func roundTrip() throws {
        let state = Serialization(full)
        try expectFull(JSONDecoder().decode(Serialization.self, from: JSONEncoder().encode(state)))
        let list = PropertyListEncoder()
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            list.outputFormat = format
            try expectFull(
                PropertyListDecoder().decode(Serialization.self, from: list.encode(state))
            )
        }
    }

    @Test(
        "What is not a state starts afresh, and says why",
        arguments: [
            #"{}"#, #"{"version":2}"#, #"{"data":"AAAA"}"#, #"[1,2]"#, #""text""#, #"7"#, #"null"#,
            #"{"version":1,"account":"known","untracked":false,"zones":[{"name":"","owner":"o"}]}"#,
        ]
    )
    func foreign(_ json: String) throws {
        let state = try JSONDecoder().decode(Serialization.self, from: Data(json.utf8))
        let (fresh, problem) = SyncEngineState.restored(from: state, origin: Self.origin)
        #expect(problem?.contains("the sync state") == true)
        #expect(fresh.databaseToken == nil)
        #expect(fresh.account == .unknown)
    }

    @Test(
        "A state that cannot be read costs no pending change, and starts as a sign-in",
        arguments: [
            (#""version":1"#, #""version":7"#), (#""databaseToken":"d""#, #""databaseToken":4"#),
            (#""subscription":"s""#, #""subscription":[]"#), (#""token":"n""#, #""token":{}"#),
            (#""unfetched":["#, #""unfetched":[99,"#),
        ]
    )
    func salvage(_ sound: String, _ damaged: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(Serialization(full)), as: UTF8.self)
        #expect(text.contains(sound))
        let bytes = Data(text.replacing(sound, with: damaged).utf8)
        let state = try JSONDecoder().decode(Serialization.self, from: bytes)
        let (rest, problem) = SyncEngineState.restored(from: state, origin: Self.origin)
        #expect(problem != nil && rest.account == .unknown && rest.databaseToken == nil)
        #expect(rest.hasPendingUntrackedChanges)
        let lost =
            full.pendingRecordZoneChanges.count + full.pendingDatabaseChanges.count
            - rest.pendingRecordZoneChanges.count - rest.pendingDatabaseChanges.count
        #expect(problem?.contains("\(lost) of its pending changes") == (lost > 0))
        let theirs = full.pendingRecordZoneChanges.elements.filter {
            $0.recordID.zoneID.zoneName == "Theirs"
        }
        #expect(Set(theirs).isSubset(of: rest.pendingRecordZoneChanges.elements))
        if !damaged.contains("{}") {
            #expect(
                rest.pendingRecordZoneChanges.elements == full.pendingRecordZoneChanges.elements
            )
            #expect(
                rest.pendingDatabaseChanges.elements == full.pendingDatabaseChanges.elements
            )
        }

        for user in ["_ada", "_bob"] {
            var bench = MachineBench(rest) { request in
                if case .identifyUser = request {
                    .user(user)
                } else {
                    .failure(CKError(.zoneBusy))
                }
            }
            bench.tell(.start)
            let changes = bench.events.compactMap { event in
                if case .accountChange(let event) = event { event.changeType } else { nil }
            }
            #expect(changes == [.signIn(currentUser: CKRecord.ID(recordName: user))])
            #expect(bench.state.pendingRecordZoneChanges.isEmpty == (user == "_bob"))
        }
    }

    @Test("A state of another database starts afresh, and says which")
    func otherDatabase() throws {
        let other = SyncEngineState.Origin(container: "c", scope: .shared)
        let (state, problem) = SyncEngineState.restored(from: Serialization(full), origin: other)
        #expect(problem?.contains("private") == true && problem?.contains("shared") == true)
        #expect(state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("No damage to a state ends the process")
    func damage() throws {
        let bytes = try JSONEncoder().encode(Serialization(full))
        var chance = SeededRandom(seed: 5)
        var accepted = 0
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0..<chance.number(1...4) {
                let place = chance.number(0...damaged.count - 1)
                damaged[place] = UInt8(truncatingIfNeeded: chance.next())
            }
            guard let state = try? JSONDecoder().decode(Serialization.self, from: damaged) else {
                continue
            }
            accepted += 1
            _ = SyncEngineState.restored(from: state, origin: Self.origin)
        }
        #expect(accepted > 0)
    }
}
