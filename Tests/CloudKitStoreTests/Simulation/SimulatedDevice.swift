import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import Support

/// The data that the devices of a schedule share.
struct SimulatedWorld {
    let cloud: TestCloud
    /// The users of the devices: the owner of the shared rows, and another user.
    let users: [TestCloud.User]
    let variant: SimulationVariant
    var oracle: MergeOracle?
    /// The devices that keep the journal of what lost.
    var journal = CloudStore.Configuration.JournalScope.local
    /// The connection of the devices; nil for one directly into the service.
    var connection: Cloud?
    let trace = SimulationTrace()

    /// The start of all clocks, in milliseconds since 1970.
    static let beginning: Int64 = 1_700_000_000_000
}

/// A device of a schedule: a file, the process that has it open, and its connection to the cloud.
final class SimulatedDevice {
    let number: Int
    let name: String
    /// The number of its user.
    let user: Int
    private let world: SimulatedWorld
    private let batchLimit: Int
    private let pageLimit: Int?
    private(set) var isNew: Bool
    private(set) var database: DatabaseQueue
    private(set) var store: CloudStore
    private(set) var container: CKContainer
    private var way: SimulatedTransport

    init(_ number: Int, _ plan: SimulationPlan.Device, in world: SimulatedWorld) async throws {
        self.number = number
        name = "d\(number)"
        user = plan.user
        self.world = world
        batchLimit = plan.batchLimit
        pageLimit = plan.pageLimit
        isNew = plan.isNew
        database = try SimulatedApp.emptyFile()
        try database.inDatabase { database in
            try database.execute(sql: SimulatedApp.schema(world.variant))
            if plan.isNew, world.variant.hasUpgrade {
                try database.execute(sql: SimulatedApp.upgrade)
            }
        }
        (store, container, way) = try await Self.open(
            number,
            world,
            world.users[user],
            database,
            batchLimit,
            pageLimit,
            isNew: isNew
        )
        // The store read this machine's clock when it created its tables.
        try database.inDatabase {
            try $0.execute(
                sql: "UPDATE grdb_cloudkit_control SET wall = ?, clock = 0",
                arguments: [SimulatedWorld.beginning + plan.skew]
            )
        }
    }

    private static func open(
        _ number: Int,
        _ world: SimulatedWorld,
        _ user: TestCloud.User,
        _ database: DatabaseQueue,
        _ batchLimit: Int,
        _ pageLimit: Int?,
        isNew: Bool
    ) async throws -> (CloudStore, CKContainer, SimulatedTransport) {
        let name = "d\(number)"
        var way: SimulatedTransport?
        func wrap(_ base: any Transport) -> any Transport {
            let made = SimulatedTransport(
                name,
                base,
                database,
                world.trace,
                batchLimit: batchLimit,
                pageLimit: pageLimit,
                onModify: { world.oracle?.sent($0, $1, by: number) },
                onUpload: { world.oracle?.uploaded($0, $1) }
            )
            way = made
            return made
        }
        let container =
            if let connection = world.connection {
                try await connection.device(of: user, transport: { wrap($0) })
            } else {
                try await world.cloud.device(of: user) { wrap($0) }
            }
        guard let way else { preconditionFailure("The container was made without its transport") }
        var configuration = Device.configuration
        configuration.device = name
        configuration.batchLimit = batchLimit
        configuration.whenZoneIsDeleted = .upload
        // Clocks jump by a year.
        configuration.journalAge = nil
        configuration.journal = world.journal
        configuration.includesSharedRows = world.variant.isShared
        let store = try CloudStore(
            database: database,
            container: container,
            tables: SimulatedApp.tables(world.variant, isNew: isNew),
            configuration: configuration
        )
        way.watchFile()
        // The engine starts with the next sync, so that nothing happens between the steps.
        return (store, container, way)
    }

    // MARK: Writing

    /// Advances the time.
    func pass(milliseconds: Int64 = 1000) throws {
        try database.inDatabase {
            let statement = try $0.cachedStatement(
                sql: "UPDATE grdb_cloudkit_control SET wall = wall + ?"
            )
            try statement.execute(arguments: [milliseconds])
        }
    }

    func contents() throws -> SimulatedApp.Contents {
        // GRDB's `read` would make SQLite compile all statements of the connection again.
        try database.inDatabase { try SimulatedApp.contents($0, world.variant, isNew: isNew) }
    }

    /// Returns the rows that the oracle sees.
    func shown() throws -> OracleTable.Rows {
        try world.oracle.map { try database.read($0.rows) } ?? [:]
    }

    /// Returns the rows that another user shares read-only with this one.
    func barredRows() throws -> Set<String> {
        try database.inDatabase {
            let statement = try $0.cachedStatement(
                sql: "SELECT tbl || '/' || key FROM grdb_cloudkit_place WHERE writes = 0"
            )
            return try String.fetchSet(statement)
        }
    }

    // MARK: Syncing

    /// Syncs; returns the store's error, and the problems during the sync.
    func sync(
        crash: SimulationStep.Crash? = nil,
        interruption: (request: Int, body: @Sendable () async -> Void)? = nil
    ) async -> (summary: SyncSummary?, error: (any Error)?, problems: [String]) {
        let (summary, error, problems) = await carryOut(
            crash: crash,
            interruption: interruption
        ) { try await $0.sync() }
        return (summary, error, problems)
    }

    /// The number of saves that the device has sent, whatever their outcome.
    var saves: Int {
        way.trace.lines.count { $0.hasPrefix("  \(name) records/modify") }
    }

    /// Runs an operation over the connection to the cloud; returns its result, the store's error,
    /// and the problems during it.
    func carryOut<Value: Sendable>(
        crash: SimulationStep.Crash? = nil,
        interruption: (request: Int, body: @Sendable () async -> Void)? = nil,
        _ body: (CloudStore) async throws -> Value
    ) async -> (value: Value?, error: (any Error)?, problems: [String]) {
        way.begin(crash: crash, interruption: interruption)
        do {
            let value = try await body(store)
            return (value, nil, way.end())
        } catch {
            // An engine that is unsure of its account checks it again on its own schedule. The next
            // call returns after that.
            if (error as? CKError)?.code == .notAuthenticated {
                _ = try? await store.sync()
                await store.stop()
            }
            return (nil, error, way.end())
        }
    }

    /// Ends the process at its planned end, and opens the file in another; in a newer version if requested.
    func relaunch(upgrading: Bool = false, as user: TestCloud.User? = nil) async throws {
        let remains = try way.bury()
        await store.stop()
        database = remains
        if upgrading, !isNew {
            isNew = true
            try database.inDatabase { try $0.execute(sql: SimulatedApp.upgrade) }
        }
        (store, container, way) = try await Self.open(
            number,
            world,
            user ?? world.users[self.user],
            database,
            batchLimit,
            pageLimit,
            isNew: isNew
        )
    }

    // MARK: What must hold at any time

    /// Returns the current problems of the file.
    func inspect() async throws -> [String] {
        var problems: [String] = []
        let broken = try database.inDatabase {
            try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count
        }
        if broken != 0 { problems.append("I7: \(name) has \(broken) broken references") }
        let differences = try await store.verifyLocally().differences
        if !differences.isEmpty {
            problems.append("I12: \(name) has edits that nobody noted: \(differences)")
        }
        return problems
    }

    /// Returns the changes that the device must know by its token, but does not.
    ///
    /// - Parameters:
    ///   - observer: The user's database that has the zone.
    ///   - zoneID: The zone.
    /// - Returns: The problems.
    func inspectToken(
        against observer: CKDatabase,
        _ zoneID: CKRecordZone.ID = Device.zoneID
    ) async throws -> [String] {
        let isOwn = zoneID == Device.zoneID
        let (data, known) = try database.inDatabase { database in
            let state = try database.cachedStatement(
                sql: "SELECT \(isOwn ? "engine" : "sharedEngine") FROM grdb_cloudkit_control"
            )
            let records = try database.cachedStatement(
                sql: "SELECT name, tag FROM grdb_cloudkit_record WHERE zone = ?"
            )
            let zone = isOwn ? "" : "\(zoneID.ownerName)/\(zoneID.zoneName)"
            return (
                try Data.fetchOne(state),
                Dictionary(
                    uniqueKeysWithValues: try Row.fetchAll(records, arguments: [zone])
                        .map { (Self.recordName($0[0]), $0[1] as String?) }
                )
            )
        }
        let decoded = data.flatMap {
            try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
        }
        guard let state = try decoded?.contents.get(), let token = state.zoneTokens[zoneID] else {
            return []
        }
        let all = try await Self.tags(observer, zoneID, since: nil) ?? [:]
        let unknown = all.filter { known[$0.key] != $0.value }.keys.sorted()
        guard !unknown.isEmpty, let late = try await Self.tags(observer, zoneID, since: token)
        else { return [] }
        return unknown.filter { late[$0] == nil }
            .map { "I11: \(name)'s token is ahead of its rows: it lacks \($0)" }
    }

    /// Returns the server's name of a record, which is kept under another while its key is taken.
    static func recordName(_ stored: DatabaseValue) -> String {
        let name = StoredName.text(stored)
        return name.split(separator: "\n").last.map(String.init) ?? name
    }

    private static func tags(
        _ database: CKDatabase,
        _ zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?
    ) async throws -> [String: String]? {
        var tags: [String: String] = [:]
        var token = token
        while true {
            do {
                let page = try await database.recordZoneChanges(
                    inZoneWith: zoneID,
                    since: token,
                    desiredKeys: []
                )
                for (id, result) in page.modificationResultsByID {
                    let record = try result.get().record
                    if !(record is CKShare) { tags[id.recordName] = record.recordChangeTag }
                }
                for deletion in page.deletions { tags[deletion.recordID.recordName] = nil }
                token = page.changeToken
                if !page.moreComing { return tags }
            } catch let error as CKError
                where [.changeTokenExpired, .zoneNotFound].contains(error.code)
            {
                return nil
            }
        }
    }
}
