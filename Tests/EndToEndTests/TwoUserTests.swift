import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

/// A process in which two users alternate while their requests are in flight.
@Suite("Two users of one process", .timeLimit(.minutes(20)))
struct TwoUserTests {
    /// The results of calls, and the number of calls in flight.
    private final class Ledger: Sendable {
        private struct State {
            var out = 0
            var saved = 0
            var stopped = 0
            var unexpected: [String] = []
            var waiting: CheckedContinuation<Void, Never>?
            var room = 0
        }

        private let state = Mutex(State())

        func begin() { state.withLock { $0.out += 1 } }

        func end(_ error: (any Error)?) {
            let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.out -= 1
                switch (error as? CKError)?.code {
                case nil where error == nil: state.saved += 1
                case .notAuthenticated: state.stopped += 1
                default: state.unexpected.append("\(String(describing: error))")
                }
                guard state.out <= state.room else { return nil }
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }

        /// Waits until at most a number of calls are in flight.
        func wait(for room: Int) async {
            await withCheckedContinuation { continuation in
                let isNow = state.withLock { state in
                    state.room = room
                    if state.out > room { state.waiting = continuation }
                    return state.out <= room
                }
                if isNow { continuation.resume() }
            }
        }

        var counts: (saved: Int, stopped: Int) { state.withLock { ($0.saved, $0.stopped) } }
        var unexpected: [String] { state.withLock { $0.unexpected } }
    }

    /// A closure that is run once and set later.
    private final class Switch: Sendable {
        private let action = Mutex<(@Sendable () -> Void)?>(nil)

        func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

        func turn() {
            let action = action.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
        }
    }

    private static let zone = CKRecordZone.ID(zoneName: "Notes")

    private func note(_ user: String, _ number: Int) -> CKRecord {
        let id = CKRecord.ID(recordName: "\(user)-\(number)", zoneID: Self.zone)
        let note = CKRecord(recordType: "Note", recordID: id)
        note["owner"] = user
        return note
    }

    /// Returns the names of all records of a user.
    private func names(_ database: CKDatabase) async throws -> Set<String> {
        var names: Set<String> = []
        var token: CKServerChangeToken?
        var isMore = true
        while isMore {
            let page = try await database.recordZoneChanges(inZoneWith: Self.zone, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            (token, isMore) = (page.changeToken, page.moreComing)
        }
        return names
    }

    /// Begins a few calls for the current user, with each kind of API.
    private func begin(_ user: String, _ round: Int, _ device: CKContainer, _ ledger: Ledger) {
        let database = device.privateCloudDatabase
        ledger.begin()
        database.save(note(user, 4 * round)) { _, error in ledger.end(error) }
        ledger.begin()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [note(user, 4 * round + 1), note(user, 4 * round + 2)]
        )
        operation.modifyRecordsResultBlock = { result in
            if case .failure(let error) = result { ledger.end(error) } else { ledger.end(nil) }
        }
        if round.isMultiple(of: 2) { operation.qualityOfService = .utility }
        database.add(operation)
        ledger.begin()
        database.fetchAllRecordZones { zones, error in
            ledger.end(error)
            if let zones { #expect(zones.contains { $0.zoneID == Self.zone }) }
        }
    }

    @Test("A thousand changes of user under load: nothing of one ever comes to the other")
    func rounds() async throws {
        let seed = UInt64.random(in: 0..<1_000_000)
        try await CloudFixture.overHTTP.run { cloud in
            var chance = SeededRandom(seed: seed)
            let users = [try await cloud.addUser("Ada"), try await cloud.addUser("Bob")]
            var tokens: [[String]] = []
            for user in users {
                try await cloud.database(of: user).save(CKRecordZone(zoneID: Self.zone))
                var own: [String] = []
                for _ in 0..<3 {
                    own.append(
                        try #require(try await cloud.client(of: user).credentials.webAuthToken)
                    )
                }
                tokens.append(own)
            }
            let kept = Mutex<String?>(nil)
            let base = try await cloud.client(of: nil)
            let credentials = WebCredentials(apiToken: base.credentials.apiToken) { token in
                kept.withLock { $0 = token }
            }
            let device = CKContainer(
                client: WebClient(
                    url: base.url,
                    container: base.container,
                    environment: base.environment,
                    credentials: credentials,
                    transport: base.transport
                )
            )
            let ledger = Ledger()
            let rounds = Int(ProcessInfo.processInfo.environment["USER_ROUNDS"] ?? "") ?? 1000
            for round in 0..<rounds {
                let user = Int.random(in: 0...1, using: &chance)
                let token = try #require(tokens[user].randomElement(using: &chance))
                try device.signIn(webAuthToken: token)
                begin("user\(user)", round, device, ledger)
                if chance.chance(10) {
                    let found = try await device.userRecordID().recordName
                    #expect(found == users[user].recordName, "seed \(seed), round \(round)")
                }
                for _ in 0..<Int.random(in: 0..<20, using: &chance) { await Task.yield() }
                await ledger.wait(for: 80)
                if chance.chance(5) { await ledger.wait(for: 0) }
            }
            await ledger.wait(for: 0)
            #expect(ledger.unexpected.isEmpty, "seed \(seed): \(ledger.unexpected.prefix(3))")
            // Both happened: calls that succeeded, and calls that ended with their user's session.
            #expect(ledger.counts.saved > rounds / 10 && ledger.counts.stopped > 0, "seed \(seed)")
            #expect(kept.withLock { $0 } == credentials.webAuthToken)
            for (number, user) in users.enumerated() {
                let names = try await names(cloud.database(of: user))
                let foreign = names.filter { !$0.hasPrefix("user\(number)-") }
                #expect(foreign.isEmpty, "seed \(seed): \(foreign.sorted().prefix(5))")
                #expect(!names.isEmpty)
            }
        }
    }

    @Test(
        "An operation that waits in its queue ends with its user, and its page after the first, too",
        arguments: CloudFixture.allCases
    )
    func waitingOperation(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            for user in [ada, bob] {
                try await cloud.database(of: user).save(CKRecordZone(zoneID: Self.zone))
            }
            let device = try await cloud.device(of: ada)
            let database = device.privateCloudDatabase
            let gate = BlockOperation {}
            let operation = CKModifyRecordsOperation(recordsToSave: [note("ada", 1)])
            operation.addDependency(gate)
            let outcome = AsyncStream<Result<Void, any Error>>.makeStream()
            operation.modifyRecordsResultBlock = { outcome.continuation.yield($0) }
            database.add(operation)
            try await cloud.signIn(bob, on: device)
            gate.start()
            for await result in outcome.stream {
                let error = #expect(throws: CKError.self) { try result.get() }
                #expect(error?.code == .notAuthenticated)
                break
            }
            #expect(try await names(database).isEmpty)

            // 300 records are two requests: a user who signs in between them gets none.
            let switching = Switch()
            let script = ScriptedTransport { request, _ in
                if request.isAbout("records/modify") { switching.turn() }
                return nil
            }
            let second = try await cloud.device(of: ada, transport: script.over)
            let token = try await cloud.client(of: bob).credentials.webAuthToken ?? ""
            switching.set { try? second.signIn(webAuthToken: token) }
            let notes = (0..<300).map { note("ada", $0) }
            let results = try? await second.privateCloudDatabase.modifyRecords(
                saving: notes,
                deleting: [],
                atomically: false
            ).saveResults
            let saved = results?.values.filter { if case .success = $0 { true } else { false } }
            #expect((saved?.count ?? 0) <= 200)
            #expect(try await names(cloud.database(of: bob)).isEmpty)
            #expect(try await names(cloud.database(of: ada)).count == 200)
        }
    }
}
