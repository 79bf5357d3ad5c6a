import CloudKit
import CloudKitServerCore
import CloudKitStore
import CloudKitTesting
import GRDB

/// A device of a schedule: its database, and the process that has it open.
final class SimulatedDevice {
    /// The app and its user, who stay when a process ends.
    private struct Owner {
        let name: String
        let simulation: StoreSimulation
        let cloud: TestCloud
        let user: TestCloud.User
    }

    private let owner: Owner
    private(set) var isEarlier: Bool
    private(set) var tables: [Table] = []
    private(set) var database: DatabaseQueue
    private(set) var store: CloudStore
    private var transport: DyingTransport

    var name: String { owner.name }

    /// The start of all clocks, in milliseconds since 1970.
    static let beginning: Int64 = 1_700_000_000_000

    init(
        _ number: Int,
        _ plan: Plan.Device,
        of simulation: StoreSimulation,
        _ cloud: TestCloud,
        _ user: TestCloud.User
    ) async throws {
        owner = Owner(
            name: "device \(number + 1)",
            simulation: simulation,
            cloud: cloud,
            user: user
        )
        isEarlier = plan.isEarlier
        database = try DatabaseQueue(configuration: simulation.configuration)
        try Self.migrate(database, simulation, isEarlier: isEarlier)
        (store, transport) = try await Self.open(database, owner, isEarlier: isEarlier)
        try readTables()
        try setClock(Self.beginning + plan.skew)
    }

    /// Replaces this machine's clock, which the store read when it made its tables, by the schedule's.
    private func setClock(_ milliseconds: Int64) throws {
        try database.write {
            try $0.execute(
                sql: "UPDATE grdb_cloudkit_control SET wall = ?, clock = 0",
                arguments: [milliseconds]
            )
        }
    }

    private static func migrate(
        _ database: DatabaseQueue,
        _ simulation: StoreSimulation,
        isEarlier: Bool
    ) throws {
        if isEarlier, let earlier = simulation.earlier {
            try simulation.migrator.migrate(database, upTo: earlier.migration)
        } else {
            try simulation.migrator.migrate(database)
        }
    }

    private static func open(
        _ database: DatabaseQueue,
        _ owner: Owner,
        isEarlier: Bool
    ) async throws -> (CloudStore, DyingTransport) {
        let simulation = owner.simulation
        var transport: DyingTransport?
        let container = try await owner.cloud.device(of: owner.user) { base in
            let made = DyingTransport(base, database) {
                let copy = try DatabaseQueue(configuration: simulation.configuration)
                try $0.backup(to: copy)
                return copy
            }
            transport = made
            return made
        }
        guard let transport else { preconditionFailure("The cloud made no transport") }
        var configuration = StoreConfiguration()
        configuration.syncsAutomatically = false
        configuration.otherProcessInterval = nil
        configuration.journalAge = nil
        configuration.device = owner.name.replacing(" ", with: "")
        let store = try CloudStore(
            database: database,
            container: container,
            tables: isEarlier ? simulation.earlier?.tables ?? simulation.tables : simulation.tables,
            configuration: configuration
        )
        return (store, transport)
    }

    private func readTables() throws {
        let declared = isEarlier ? owner.simulation.earlier?.tables ?? [] : owner.simulation.tables
        tables = try database.read { database in
            try declared.filter { $0.database == .private }.map { try Table($0, in: database) }
        }
    }

    /// Advances the device's clock.
    func pass(milliseconds: Int64) throws {
        try database.write {
            try $0.execute(
                sql: "UPDATE grdb_cloudkit_control SET wall = wall + ?",
                arguments: [milliseconds]
            )
        }
    }

    /// Edits in one transaction, each with its seed.
    func edit(_ seeds: [UInt64]) throws -> [RandomEdits.Made] {
        let edits = RandomEdits(tables: tables, simulation: owner.simulation)
        return try database.write { try edits.make($0, seeds) }
    }

    /// Syncs; ends the process at a request if requested.
    ///
    /// - Returns: Whether the process has ended.
    func sync(_ crash: Plan.Crash? = nil) async throws -> (summary: SyncSummary?, hasCrashed: Bool)
    {
        transport.plan(crash)
        do {
            let summary = try await store.sync()
            transport.plan(nil)
            return (summary, transport.remains != nil)
        } catch {
            if transport.remains != nil { return (nil, true) }
            throw error
        }
    }

    /// Ends the process, and opens what it left in another; in the newer version if requested.
    func relaunch(upgrading: Bool = false) async throws {
        await store.stop()
        database = transport.remains ?? database
        if upgrading { isEarlier = false }
        try Self.migrate(database, owner.simulation, isEarlier: isEarlier)
        (store, transport) = try await Self.open(database, owner, isEarlier: isEarlier)
        try readTables()
    }

    func contents() throws -> [String: [String: [String: String]]] {
        try database.read { database in
            Dictionary(
                uniqueKeysWithValues: try tables.map { ($0.name, try $0.contents(database)) }
            )
        }
    }
}
