import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Dispatch
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Slow reads")
struct SlowReadTests {
    /// Holds the reads of tasks that request it until it is opened.
    private final class Gate: Sendable {
        @TaskLocal static var holds = false

        private struct State {
            var held = 0
            var isOpen = false
        }

        private let state = Mutex(State())
        private let opening = DispatchSemaphore(value: 0)
        private let arrivals: AsyncStream<Void>
        private let arrival: AsyncStream<Void>.Continuation

        init() {
            (arrivals, arrival) = AsyncStream.makeStream()
        }

        /// The number of held reads.
        var held: Int { state.withLock { $0.held } }

        /// Holds the thread, with a time limit, so that a service whose threads are all held fails
        /// the test instead of hanging it.
        func hold() {
            let waits = state.withLock { state in
                guard !state.isOpen else { return false }
                state.held += 1
                return true
            }
            arrival.yield()
            guard waits else { return }
            _ = opening.wait(timeout: .now() + 5)
            state.withLock { $0.held -= 1 }
        }

        func open() {
            let held = state.withLock { state in
                state.isOpen = true
                return state.held
            }
            for _ in 0..<held { opening.signal() }
        }

        /// Waits until a number of reads have arrived.
        func waitForReads(_ count: Int) async {
            var left = count
            for await _ in arrivals {
                left -= 1
                if left == 0 { return }
            }
        }
    }

    /// A storage whose reads can be held while they occupy a thread and a connection.
    private struct GatedStorage: WrappingStorage {
        let base: SQLiteStorage
        let gate: Gate

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageReader) throws -> Value
        ) async throws -> Value {
            let holds = Gate.holds
            return try await base.read { reader in
                if holds { gate.hold() }
                return try body(reader)
            }
        }
    }

    @Test("However many reads wait, who asks for something else is served at once")
    func others() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-slow-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = Gate()
        let base = try SQLiteStorage(path: folder.path + "/cloud.sqlite")
        let cloud = try await FixtureCloud(storage: GatedStorage(base: base, gate: gate))
        let ada = try await cloud.addUser()
        let others = [try await cloud.addUser("Bob"), try await cloud.addUser("Eve")]
        for user in others + [ada] {
            let made = try await cloud.modify(
                "_defaultZone",
                as: user,
                [FixtureCloud.note("create", "a", ["n": ["value": 1]])]
            )
            #expect(made.records[0].serverErrorCode == nil)
            // From now on the service has the caller in its cache.
            _ = try await cloud.call("users/caller", .public, as: user)
        }
        try await withThrowingTaskGroup(of: FixtureCloud.Response.self) { group in
            for number in 0..<20 {
                let user = others[number % 2]
                group.addTask {
                    try await Gate.$holds.withValue(true) {
                        try await cloud.call(
                            "records/query",
                            as: user,
                            ["query": ["recordType": "Note"]]
                        )
                    }
                }
            }
            await gate.waitForReads(8)
            let held = gate.held
            let caller = try await cloud.call("users/caller", .public, as: ada)
            let looked = try await cloud.lookUp(["a"], in: "_defaultZone", as: ada)
            let saved = try await cloud.modify(
                "_defaultZone",
                as: ada,
                [FixtureCloud.note("forceUpdate", "a", ["n": ["value": 2]])]
            )
            #expect(held == 8)
            // Meanwhile none of them was released, and no other has arrived.
            #expect(gate.held == 8)
            #expect(caller.status == 200)
            #expect(looked.records[0].fields.n.value == 1)
            #expect(saved.records[0].fields.n.value == 2)
            gate.open()
            for try await response in group { #expect(response.status == 200) }
        }
    }
}
