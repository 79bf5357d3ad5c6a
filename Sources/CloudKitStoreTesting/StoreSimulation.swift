import CloudKit
public import CloudKitStore
import CloudKitTesting
public import GRDB

/// A test that plays an app's tables on several devices, through random edits, faults, crashes and
/// upgrades, and checks that all of them end with the same rows.
///
/// ```swift
/// @Test("Devices agree, whatever happens")
/// func sync() async throws {
///     try await StoreSimulation(migrator: AppDatabase.migrator, tables: AppDatabase.tables)
///         .run(seeds: 1...100)
/// }
/// ```
///
/// A seed always plays the same schedule. When one fails, its steps are reduced to those that matter,
/// and the thrown ``Failure`` tells them as SQL.
///
/// Checked are: equal values on all devices and on the server, references that hold, devices that
/// come to rest, no row that waits permanently, and the app's own ``invariant``.
public struct StoreSimulation: Sendable {
    /// A closure that makes a value for a column.
    public typealias Value = @Sendable (inout Randomness) -> (any DatabaseValueConvertible)?

    /// An edit that the app itself makes.
    public struct Edit: Sendable {
        let name: String
        let body: @Sendable (Database, inout Randomness) throws -> Void

        /// - Parameters:
        ///   - name: The edit's name in the steps of a failure, such as "complete a task".
        ///   - body: A closure that edits within a transaction; a constraint that it violates undoes it.
        public init(
            _ name: String,
            _ body: @escaping @Sendable (Database, inout Randomness) throws -> Void
        ) {
            self.name = name
            self.body = body
        }
    }

    /// An earlier version of the app, which some devices begin with.
    public struct Version: Sendable {
        let migration: String
        let tables: [SyncedTable]

        /// - Parameters:
        ///   - migration: The name of the version's last migration.
        ///   - tables: The tables that the version syncs.
        public init(migratedUpTo migration: String, tables: [SyncedTable]) {
            self.migration = migration
            self.tables = tables
        }
    }

    let migrator: DatabaseMigrator
    let tables: [SyncedTable]

    /// The settings with which each device opens its database, such as functions and collations.
    public var configuration = GRDB.Configuration()
    /// An earlier version of the app; about half of the devices begin with it and upgrade later.
    public var earlier: Version?
    /// The values of columns for which random ones of their type will not do, by `table.column`.
    public var values: [String: Value] = [:]
    /// The app's own edits, which are made among the random ones.
    public var edits: [Edit] = []
    /// A closure that throws when a device's rows contradict each other; called after each step, with a
    /// connection that only reads.
    public var invariant: (@Sendable (Database) throws -> Void)?
    /// The number of devices.
    public var devices = 3
    /// The number of steps in a schedule.
    public var steps = 50
    /// The maximum number of schedules that are tried to shorten a failing one.
    public var attempts = 200

    /// - Parameters:
    ///   - migrator: The app's migrations.
    ///   - tables: The tables that the app syncs, as it declares them for its store. Those of the
    ///     public database are not edited.
    public init(migrator: DatabaseMigrator, tables: [SyncedTable]) {
        self.migrator = migrator
        self.tables = tables
    }

    /// Plays the schedules of some seeds, one after the other.
    ///
    /// - Parameter seeds: The seeds.
    /// - Returns: The numbers of what happened.
    /// - Throws: The ``Failure`` of the first seed whose devices end wrong, shortened; a
    ///   ``CoverageError`` when a table never had a row; a `CloudStoreError` for tables that cannot
    ///   be synced, and errors of the migrations.
    @discardableResult
    public func run(seeds: some Sequence<UInt64> & Sendable) async throws -> Report {
        var report = Report()
        for seed in seeds {
            let plan = Plan(seed: seed, self)
            let outcome = try await Run.play(plan, of: self)
            report.add(outcome)
            guard outcome.problems.isEmpty else {
                let last = try await shrink(plan, outcome)
                throw Failure(seed: seed, problems: last.problems, steps: last.lines)
            }
        }
        try report.checkCoverage()
        return report
    }

    /// Removes steps, then single edits, while the schedule goes on failing in the same way.
    private func shrink(_ plan: Plan, _ outcome: Run.Outcome) async throws -> Run.Outcome {
        var best = (plan: plan, outcome: outcome)
        var left = attempts
        /// Takes over a shorter plan if it fails too.
        func fails(_ shorter: Plan) async throws -> Bool {
            left -= 1
            let outcome = try await Run.play(shorter, of: self)
            guard !outcome.kinds.isDisjoint(with: best.outcome.kinds) else { return false }
            best = (shorter, outcome)
            return true
        }

        var size = max(1, plan.steps.count / 2)
        repeat {
            var start = 0
            var isShorter = false
            while start < best.plan.steps.count, left > 0 {
                var shorter = best.plan
                shorter.steps.removeSubrange(start..<min(start + size, shorter.steps.count))
                if try await fails(shorter) { isShorter = true } else { start += size }
            }
            if size == 1, !isShorter { break }
            size = max(1, size / 2)
        } while left > 0

        for step in best.plan.steps.indices {
            guard case .edit(let seeds) = best.plan.steps[step].action else { continue }
            var kept = seeds
            for seed in seeds where kept.count > 1 && left > 0 {
                var shorter = best.plan
                let fewer = kept.filter { $0 != seed }
                shorter.steps[step].action = .edit(fewer)
                if try await fails(shorter) { kept = fewer }
            }
        }
        return best.outcome
    }
}
