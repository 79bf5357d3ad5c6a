import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Writes that take long")
struct WriterTurnTests {
    /// A storage that counts the turns of its writer.
    private final class CountingStorage: WrappingStorage {
        let base: SQLiteStorage
        private let alone = Mutex(0)
        private let waits = Mutex<[Int]>([])

        init(_ base: SQLiteStorage) { self.base = base }

        /// The number of turns of writes that ran alone.
        var aloneCount: Int { alone.withLock { $0 } }
        /// The maximum number of those that began while a shared write waited.
        var longestWait: Int { waits.withLock { $0.max() ?? 0 } }

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageWriter) throws -> Value
        ) async throws -> Value {
            let before = aloneCount
            return try await base.write { writer in
                self.waits.withLock { $0.append(self.aloneCount - before) }
                return try body(writer)
            }
        }

        func writeExclusively<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageWriter) throws -> Value
        ) async throws -> Value {
            try await base.writeExclusively { writer in
                self.alone.withLock { $0 += 1 }
                return try body(writer)
            }
        }
    }

    private static let reference: JSON = [
        "to": ["value": ["recordName": "top", "action": "DELETE_SELF"]]
    ]

    /// Returns a service in which a user has a record whose deletion also deletes a hundred others.
    private static func world(
        _ budget: RequestBudget
    ) async throws -> (
        FixtureCloud, CountingStorage, ada: FixtureCloud.User, bob: FixtureCloud.User
    ) {
        var configuration = ServiceConfiguration()
        configuration.budget = budget
        let storage = CountingStorage(try SQLiteStorage(path: nil))
        let cloud = try await FixtureCloud(configuration: configuration, storage: storage)
        let ada = try await cloud.addUser()
        let bob = try await cloud.addUser("Bob")
        for user in [ada, bob] { try await cloud.addZone("Notes", as: user) }
        _ = try await cloud.modify(as: bob, [FixtureCloud.note("create", "top")])
        for start in stride(from: 0, to: 100, by: 20) {
            let notes = (start..<start + 20).map {
                FixtureCloud.note("create", "n\($0)", Self.reference)
            }
            let made = try await cloud.modify(as: bob, notes)
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
        }
        return (cloud, storage, ada, bob)
    }

    @Test("A deletion that takes too much along is refused before it writes anything")
    func refusedEarly() async throws {
        let (cloud, storage, _, bob) = try await Self.world(RequestBudget(rowsPerDeletion: 300))
        let response = try await cloud.modify(as: bob, [FixtureCloud.note("forceDelete", "top")])
        #expect(response.status == 400)
        #expect(response.body.nativeErrorCode == 27)
        #expect(response.reason.contains("more than 300 rows"))
        #expect(storage.aloneCount == 0)
        // The records that refer to it can be deleted first; the last record is deleted alone at
        // any cost.
        for start in stride(from: 0, to: 100, by: 50) {
            let notes = (start..<start + 50).map { FixtureCloud.note("forceDelete", "n\($0)") }
            let gone = try await cloud.modify(as: bob, notes)
            #expect(gone.records.allSatisfy { $0.deleted == true })
        }
        let last = try await cloud.modify(as: bob, [FixtureCloud.note("forceDelete", "top")])
        #expect(last.records[0].deleted == true)
    }

    @Test("A commit that is too long for others goes alone, and does what it would have done")
    func alone() async throws {
        let (cloud, storage, _, bob) = try await Self.world(RequestBudget(rowsBesideOthers: 500))
        let response = try await cloud.modify(as: bob, [FixtureCloud.note("forceDelete", "top")])
        #expect(response.records[0].deleted == true)
        #expect(storage.aloneCount == 1)
        let left = try await cloud.lookUp(["top", "n0", "n99"], as: bob)
        #expect(left.records.allSatisfy { $0.serverErrorCode == "NOT_FOUND" })
    }

    @Test("While one user's long deletions fail again and again, others wait for one turn at most")
    func others() async throws {
        let (cloud, storage, ada, bob) = try await Self.world(
            RequestBudget(rowsBesideOthers: 500)
        )
        // The nonexistent record makes the whole batch fail when all of its work is done.
        let missing = FixtureCloud.note("update", "nowhere", [:], tag: "1")
        let deletions = [FixtureCloud.note("forceDelete", "top"), missing]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5 {
                        let response = try await cloud.modify(as: bob, atomic: true, deletions)
                        #expect(response.records[1].serverErrorCode == "NOT_FOUND")
                    }
                }
            }
            for number in 0..<20 {
                let saved = try await cloud.modify(
                    as: ada,
                    [FixtureCloud.note("create", "small \(number)")]
                )
                #expect(saved.records[0].serverErrorCode == nil)
            }
            try await group.waitForAll()
        }
        #expect(storage.aloneCount == 20)
        #expect(storage.longestWait <= 1)
        let kept = try await cloud.lookUp(["top", "n99"], as: bob)
        #expect(kept.records.allSatisfy { $0.serverErrorCode == nil })
    }

    @Test("A writer whose long write failed waits before writing again")
    func penalty() async throws {
        let (cloud, storage, ada, bob) = try await Self.world(
            RequestBudget(milliseconds: 1_000_000, rowsBesideOthers: 500)
        )
        let missing = FixtureCloud.note("update", "nowhere", [:], tag: "1")
        let deletions = [FixtureCloud.note("forceDelete", "top"), missing]
        cloud.clock.hurry(milliseconds: 1000)
        let failed = try await cloud.modify(as: bob, atomic: true, deletions)
        cloud.clock.hurry(milliseconds: 0)
        #expect(failed.records[1].serverErrorCode == "NOT_FOUND")
        let again = try await cloud.modify(as: bob, atomic: true, deletions)
        #expect(again.status == 503 && again.code == "TRY_AGAIN_LATER")
        #expect(storage.aloneCount == 1)
        let other = try await cloud.modify(as: ada, [FixtureCloud.note("create", "small")])
        #expect(other.records[0].serverErrorCode == nil)
        cloud.clock.advance(seconds: 3600)
        let later = try await cloud.modify(as: bob, [FixtureCloud.note("forceDelete", "top")])
        #expect(later.records[0].deleted == true)
    }
}
