import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Support
import Synchronization

/// A device of a simulation: a file, the store over it, and a way into the cloud that fails when the
/// schedule says so.
final class SimulatedDevice {
    let name: String
    let database: DatabaseQueue
    private let cloud: TestCloud
    private let user: TestCloud.User
    private let defect: StoreDefect?
    private(set) var store: CloudStore
    private var way: FailingWay

    init(
        _ name: String,
        _ cloud: TestCloud,
        _ user: TestCloud.User,
        defect: StoreDefect?
    ) async throws {
        self.name = name
        self.cloud = cloud
        self.user = user
        self.defect = defect
        database = try DatabaseQueue()
        try await database.write { try $0.execute(sql: Device.schema) }
        (store, way) = try await Self.open(cloud, user, database, defect)
    }

    private static func open(
        _ cloud: TestCloud,
        _ user: TestCloud.User,
        _ database: DatabaseQueue,
        _ defect: StoreDefect?
    ) async throws -> (CloudStore, FailingWay) {
        let way = FailingWay()
        let container = try await cloud.device(of: user) { way.over($0) }
        var configuration = Device.configuration
        configuration.defect = defect
        configuration.batchLimit = 5
        let store = try CloudStore(
            database: database,
            container: container,
            tables: Device.notes,
            configuration: configuration
        )
        try await store.start()
        return (store, way)
    }

    /// The process ends, after a number of requests of one more sync, and another opens the file.
    func crash(after requests: Int) async throws {
        way.state.withLock { $0 = .init(passing: requests, isDead: true) }
        _ = try? await store.sync()
        await store.stop()
        (store, way) = try await Self.open(cloud, user, database, defect)
    }

    /// Syncs, while requests fail as the schedule says: false for one that does not arrive, true for
    /// one whose answer is lost.
    func sync(_ faults: [Bool?]) async {
        way.state.withLock { $0 = .init(faults: faults) }
        _ = try? await store.sync()
        way.state.withLock { $0 = .init() }
    }

    /// Syncs; before its next save reaches the cloud, something else happens.
    func sync(racing body: @escaping @Sendable () async throws -> Void) async {
        way.state.withLock { $0 = .init(beforeSave: body) }
        _ = try? await store.sync()
        way.state.withLock { $0 = .init() }
    }

    func syncWithoutFaults() async throws {
        way.state.withLock { $0 = .init() }
        try await store.sync()
    }
}

/// A way into a cloud that fails by a plan.
final class FailingWay: Sendable {
    struct State: Sendable {
        /// What happens to the next requests; nil lets one through.
        var faults: [Bool?] = []
        /// The requests that pass before the process ends.
        var passing = 0
        var isDead = false
        /// Happens before the next save reaches the cloud.
        var beforeSave: (@Sendable () async throws -> Void)?
    }

    let state = Mutex(State())

    func over(_ base: any Transport) -> any Transport {
        ScriptedTransport { [self] request, _ in
            if request.isAbout("records/modify") {
                try await state.withLock { exchange(&$0.beforeSave, with: nil) }?()
            }
            let fault: Bool? = state.withLock { state in
                if state.isDead {
                    state.passing -= 1
                    // The last request before the end arrives, and nobody hears the answer.
                    return state.passing > 0 ? nil : state.passing == 0
                }
                return state.faults.isEmpty ? nil : state.faults.removeFirst()
            }
            guard let isLost = fault else { return nil }
            if isLost { _ = try await base.send(request) }
            throw TransportError(.broken, message: isLost ? "lost" : "cut")
        }.over(base)
    }
}
