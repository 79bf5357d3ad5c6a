import CloudKit
import CloudKitServerCore
import CloudKitStore
import CloudKitTesting
import GRDB

/// The play of one schedule.
struct Run {
    /// The result of a schedule.
    struct Outcome: Sendable {
        /// The problems, each after its kind and a colon.
        var problems: [String] = []
        var lines: [String] = []
        var edits = 0
        var refusedEdits = 0
        var faults = 0
        var crashes = 0
        var upgrades = 0
        var lostEdits = 0
        var rows: [String: Int] = [:]
        var refusals: [String: String] = [:]

        /// The kinds of the problems.
        var kinds: Set<Substring> { Set(problems.map { $0.prefix { $0 != ":" } }) }
    }

    /// The number of rounds of syncs after which devices at rest must have nothing left to say.
    private static let rounds = 12

    private let simulation: StoreSimulation
    private let cloud: TestCloud
    private var devices: [SimulatedDevice] = []
    private var outcome = Outcome()

    /// Plays a schedule; errors of the first start of a device are thrown.
    static func play(_ plan: Plan, of simulation: StoreSimulation) async throws -> Outcome {
        let clock = VirtualClock(startingAt: SimulatedDevice.beginning)
        let cloud = try await TestCloud(clock: clock, randomness: SeededRandomness(seed: plan.seed))
        let ada = try await cloud.addUser("Ada")
        var run = Run(simulation: simulation, cloud: cloud)
        for (number, device) in plan.devices.enumerated() {
            run.devices.append(
                try await SimulatedDevice(number, device, of: simulation, cloud, ada)
            )
        }
        for table in simulation.tables where table.database == .private {
            run.outcome.rows[table.name] = 0
        }
        for step in plan.steps where run.outcome.problems.isEmpty {
            do {
                try run.pass(seconds: 1)
                try await run.carryOut(step)
            } catch {
                run.outcome.problems.append("error: \(run.devices[step.device].name): \(error)")
            }
        }
        if run.outcome.problems.isEmpty {
            do {
                try await run.rest()
            } catch {
                run.outcome.problems.append("error: at rest: \(error)")
            }
        }
        for device in run.devices { await device.store.stop() }
        return run.outcome
    }

    private init(simulation: StoreSimulation, cloud: TestCloud) {
        self.simulation = simulation
        self.cloud = cloud
    }

    private func pass(seconds: Int64) throws {
        cloud.clock.advance(by: .seconds(seconds))
        for device in devices { try device.pass(milliseconds: seconds * 1000) }
    }

    // MARK: Steps

    private mutating func carryOut(_ step: Plan.Step) async throws {
        let device = devices[step.device]
        switch step.action {
        case .edit(let seeds): try edit(device, seeds)
        case .sync:
            outcome.lines.append("\(device.name) syncs")
            _ = await sync(device)
        case .fault(let fault, let call):
            outcome.lines.append("\(device.name) syncs with \(fault) at request \(call)")
            outcome.faults += 1
            cloud.setFaults(FaultPlan(seed: step.seed, rules: [FaultRule(fault, call: call)]))
            do {
                _ = try await device.sync()
            } catch let error as CloudStoreError {
                outcome.problems.append("sync: \(device.name) cannot sync: \(error)")
            } catch {
                // The fault's error, which is expected.
            }
            cloud.setFaults(nil)
        case .crash(let crash):
            outcome.lines.append("\(device.name) syncs, and its process ends \(crash)")
            do {
                if try await device.sync(crash).hasCrashed { outcome.crashes += 1 }
            } catch {
                outcome.problems.append("sync: \(device.name) cannot sync: \(error)")
            }
            try await device.relaunch()
        case .relaunch:
            outcome.lines.append("\(device.name) is launched again")
            try await device.relaunch()
        case .upgrade:
            guard device.isEarlier else { return }
            try await upgrade(device)
        }
        try check(device)
    }

    private mutating func edit(_ device: SimulatedDevice, _ seeds: [UInt64]) throws {
        for edit in try device.edit(seeds) {
            outcome.lines.append(
                "\(device.name): \(edit.text)" + (edit.refusal.map { " -- refused: \($0)" } ?? "")
            )
            if let refusal = edit.refusal {
                outcome.refusedEdits += 1
                if let table = edit.inserted { outcome.refusals[table] = refusal }
            } else {
                outcome.edits += 1
                if let table = edit.inserted { outcome.rows[table, default: 0] += 1 }
            }
        }
    }

    private mutating func upgrade(_ device: SimulatedDevice) async throws {
        outcome.lines.append("\(device.name) gets the newer version")
        outcome.upgrades += 1
        try await device.relaunch(upgrading: true)
    }

    /// Syncs without faults.
    private mutating func sync(_ device: SimulatedDevice) async -> SyncSummary? {
        do {
            return try await device.sync().summary
        } catch {
            outcome.problems.append("sync: \(device.name) cannot sync: \(error)")
            return nil
        }
    }

    /// Checks what must hold on a device at any time.
    private mutating func check(_ device: SimulatedDevice) throws {
        let broken = try device.database.read {
            try Row.fetchAll($0, sql: "PRAGMA foreign_key_check")
        }
        if let first = broken.first {
            outcome.problems.append("references: \(device.name) has broken ones: \(first)")
        }
        guard let invariant = simulation.invariant else { return }
        do {
            try device.database.read(invariant)
        } catch {
            outcome.problems.append("invariant: \(device.name): \(error)")
        }
    }

    // MARK: At rest

    private mutating func rest() async throws {
        outcome.lines.append("all devices sync until nothing is left to say")
        try await settle()
        for device in devices where device.isEarlier && outcome.problems.isEmpty {
            try await upgrade(device)
        }
        try await settle()
        guard outcome.problems.isEmpty else { return }
        for device in devices {
            let status = try await device.store.status
            for row in status.quarantined {
                outcome.problems.append(
                    "quarantine: \(device.name) cannot have \(row.table ?? "a record") "
                        + "\(row.key ?? ""): \(row.reason)"
                )
            }
            if status.quarantined.isEmpty, !status.isSettled {
                let reasons = status.explanation.joined(separator: "; ")
                outcome.problems.append("rest: \(device.name) is not settled: \(reasons)")
            }
            let differences = try await device.store.verify().differences
            if !differences.isEmpty {
                outcome.problems.append(
                    "server: \(device.name) and the server differ: \(differences)"
                )
            }
            outcome.lostEdits += try await device.store.journal().count
        }
        try compare()
    }

    private mutating func settle() async throws {
        for _ in 0..<Self.rounds {
            var isQuiet = true
            for device in devices {
                try pass(seconds: 1)
                let summary = await sync(device)
                try check(device)
                guard outcome.problems.isEmpty else { return }
                if summary != SyncSummary() { isQuiet = false }
            }
            if isQuiet { return }
        }
        outcome.problems.append(
            "rest: after \(Self.rounds) rounds devices still send changes to each other; a trigger "
                + "that changes rows when they arrive does that, unless the table suspends it"
        )
    }

    /// Compares the rows of all devices.
    private mutating func compare() throws {
        guard let first = devices.first else { return }
        let mine = try first.contents()
        for device in devices.dropFirst() {
            let others = try device.contents()
            for (table, rows) in mine.sorted(by: { $0.key < $1.key }) {
                let theirs = others[table] ?? [:]
                for key in Set(rows.keys).union(theirs.keys).sorted() {
                    outcome.problems += Self.difference(
                        "\(table) \(key)",
                        (first.name, rows[key]),
                        (device.name, theirs[key])
                    )
                }
            }
        }
    }

    private static func difference(
        _ row: String,
        _ one: (name: String, values: [String: String]?),
        _ other: (name: String, values: [String: String]?)
    ) -> [String] {
        guard let mine = one.values else { return ["rows: \(one.name) lacks \(row)"] }
        guard let theirs = other.values else { return ["rows: \(other.name) lacks \(row)"] }
        return mine.keys.sorted().filter { mine[$0] != theirs[$0] }.map { column in
            "values: \(column) of \(row) is \(mine[column] ?? "") on \(one.name) and "
                + "\(theirs[column] ?? "") on \(other.name)"
        }
    }
}
