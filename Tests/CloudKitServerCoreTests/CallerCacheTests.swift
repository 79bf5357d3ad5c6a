import CloudKitServerCore
import CloudKitServerSQLite
import ServerFixtures
import Synchronization
import Testing

@Suite("Callers that a service remembers")
struct CallerCacheTests {
    /// A storage of which one read ends only when a test lets it.
    private final class PausingStorage: WrappingStorage {
        let base: SQLiteStorage
        private let pause = Mutex<
            (arrival: AsyncStream<Void>.Continuation, end: AsyncStream<Void>)?
        >(
            nil
        )

        init(_ base: SQLiteStorage) { self.base = base }

        /// Holds the next read; returns its arrival, and what ends it.
        func hold() -> (arrival: AsyncStream<Void>, end: AsyncStream<Void>.Continuation) {
            let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            pause.withLock { $0 = (arrival, ends) }
            return (arrivals, end)
        }

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageReader) throws -> Value
        ) async throws -> Value {
            let value = try await base.read(body)
            let held = pause.withLock { pause in
                defer { pause = nil }
                return pause
            }
            held?.arrival.finish()
            if let held { for await _ in held.end {} }
            return value
        }
    }

    @Test("A caller who was looked up before a change is not remembered after it")
    func lateArrival() async throws {
        let storage = try PausingStorage(SQLiteStorage(path: nil))
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        _ = try await cloud.service.revoke([], container: FixtureCloud.container)
        let held = storage.hold()
        async let early = cloud.call("zones/list", as: ada)
        for await _ in held.arrival {}
        // The credentials were good when they were read.
        _ = try await cloud.service.endSessions(of: ada.user)
        held.end.finish()
        #expect(try await early.status == 200)
        #expect(try await cloud.call("zones/list", as: ada).status == 421)
    }
}
