import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support

/// A simulation that runs a schedule with the real store, the real engine and the whole cloud, and
/// checks invariants after each step and at rest.
actor StoreSimulation {
    /// The outcome of a schedule.
    struct Outcome: Sendable {
        /// The problems; empty if there are none.
        var problems: [String] = []
        /// The steps, line by line.
        var trace: [String] = []
    }

    /// Something that goes wrong with a device's file after each of its syncs, past the store.
    typealias Fault = @Sendable (Database) throws -> Void

    let plan: SimulationPlan
    private let fault: Fault?
    var devices: [SimulatedDevice] = []
    var model = SimulationModel()
    /// The oracle, which computes the expected values without code of the store.
    let oracle: MergeOracle
    var problems: [String] = []
    /// A number that makes the values of edits unique.
    var number = 0
    var visitor: TestCloud.User?
    private var observers: [Int: CKContainer] = [:]

    private init(_ plan: SimulationPlan, fault: Fault?) {
        self.plan = plan
        self.fault = fault
        oracle = MergeOracle(plan)
    }

    /// Runs a schedule.
    ///
    /// - Parameters:
    ///   - plan: The schedule.
    ///   - fault: The fault that happens besides the steps of the schedule.
    ///   - checksSums: Whether the sums of counters are checked even though the zone was lost.
    /// - Returns: The problems, and the steps.
    static func run(
        _ plan: SimulationPlan,
        fault: Fault? = nil,
        checksSums: Bool = false
    ) async -> Outcome {
        await StoreSimulation(plan, fault: fault).run(checksSums: checksSums)
    }

    private func run(checksSums: Bool) async -> Outcome {
        model.checksSums = checksSums
        let clock = VirtualClock(startingAt: SimulatedWorld.beginning)
        do {
            let cloud = try await TestCloud.ofRun(
                clock: clock,
                randomness: SeededRandomness(seed: plan.seed)
            )
            let world = SimulatedWorld(
                cloud: cloud,
                users: try await Self.users(of: plan.variant, in: cloud),
                variant: plan.variant,
                oracle: oracle,
                // In one of five schedules.
                journal: plan.seed % 5 == 4 ? .shared : .local
            )
            do {
                try await run(in: world)
            } catch {
                problems.append("E: \(error)")
            }
            for device in devices { await device.store.stop() }
            return Outcome(problems: problems, trace: world.trace.lines + problems)
        } catch {
            return Outcome(problems: ["E: \(error)"])
        }
    }

    private static func users(
        of variant: SimulationVariant,
        in cloud: TestCloud
    ) async throws -> [TestCloud.User] {
        let owner = try await cloud.addUser("Ada")
        return variant.isShared ? [owner, try await cloud.addUser("Cleo")] : [owner]
    }

    private func run(in world: SimulatedWorld) async throws {
        for (number, device) in plan.devices.enumerated() {
            devices.append(try await SimulatedDevice(number, device, in: world))
        }
        if plan.variant.isShared { try await beginSharing(in: world) }
        for step in plan.steps where step.device < devices.count {
            try pass(in: world)
            world.trace.add(step.description)
            try await carryOut(step, in: world)
            problems += oracle.takeProblems()
            if !problems.isEmpty { return }
        }
        try await rest(in: world)
    }

    // MARK: Steps

    /// Advances the time of the service and of all devices, however wrong their clocks are.
    func pass(seconds: Int64 = 1, in world: SimulatedWorld) throws {
        world.cloud.clock.advance(by: .seconds(seconds))
        for device in devices { try device.pass(milliseconds: seconds * 1000) }
    }

    private func carryOut(_ step: SimulationStep, in world: SimulatedWorld) async throws {
        let device = devices[step.device]
        var chance = SeededRandom(seed: step.seed)
        switch step.action {
        case .edit(let edit): return write(edit, device, world, &chance)
        case .sync(let faults):
            world.cloud.setFaults(
                faults.isEmpty ? nil : FaultPlan(seed: step.seed, rules: faults)
            )
            let (summary, error, found) = await device.sync()
            world.cloud.setFaults(nil)
            take(error, found, isSmooth: faults.isEmpty, device)
            if error == nil, faults.isEmpty, summary?.saved ?? 0 > 0 {
                oracle.learnedTime(step.device)
            }
            if faults.contains(where: \.endsSession) { try await device.relaunch() }
            if let fault { try device.database.inDatabase(fault) }
        case .race(let request, let editor):
            guard editor < devices.count else { return }
            let seed = chance.next()
            let (_, error, found) = await device.sync(
                interruption: (
                    request,
                    {
                        await self.interrupt(
                            with: editor,
                            seed,
                            syncs: editor != step.device,
                            world
                        )
                    }
                )
            )
            take(error, found, isSmooth: true, device)
        case .crash(let crash):
            let (_, _, found) = await device.sync(crash: crash)
            problems += found
            try await device.relaunch()
            // A machine takes longer to restart than a clock takes to tick.
            try pass(seconds: 5, in: world)
        case .relaunch: try await device.relaunch()
        case .upgrade: try await device.relaunch(upgrading: true)
        case .setClock(let milliseconds):
            try device.pass(milliseconds: milliseconds)
            oracle.setClock(of: step.device, by: milliseconds)
        case .visit: try await visit(device, in: world)
        case .restore: try await restore(device, &chance, in: world)
        case .loseZone: try await loseZone(in: world)
        case .share(let sharing, let crash):
            try await change(sharing, device, crash: crash, in: world)
        }
        try await resolveUncertain(in: world)
        problems += try await device.inspect()
        problems += try await inspectTokens(device, in: world)
    }

    /// Returns the changes that a device must know by its tokens, but does not.
    func inspectTokens(
        _ device: SimulatedDevice,
        in world: SimulatedWorld
    ) async throws -> [String] {
        let container = try await observer(of: device.user, in: world)
        let own = try await device.inspectToken(against: container.privateCloudDatabase)
        guard device.user != 0 else { return own }
        return try await own
            + device.inspectToken(
                against: container.sharedCloudDatabase,
                CKRecordZone.ID(
                    zoneName: Device.zoneID.zoneName,
                    ownerName: world.users[0].recordName
                )
            )
    }

    /// Adds the problems of a sync; without faults there must be none.
    func take(
        _ error: (any Error)?,
        _ found: [String],
        isSmooth: Bool,
        _ device: SimulatedDevice
    ) {
        problems += found
        guard let error, isSmooth || !(error is CKError) else { return }
        problems.append("I14: \(device.name) cannot sync: \(error)")
    }

    /// Runs an operation on a device while another syncs.
    private func interrupt(
        with editor: Int,
        _ seed: UInt64,
        syncs: Bool,
        _ world: SimulatedWorld
    ) async {
        var chance = SeededRandom(seed: seed)
        let device = devices[editor]
        for _ in 0..<chance.number(1...3) {
            write(.random(plan.variant, &chance), device, world, &chance)
        }
        guard syncs else { return }
        let (_, error, found) = await device.sync()
        take(error, found, isSmooth: true, device)
    }

    /// Signs in another user on a device: the rows stay here, and are not sent to that user.
    private func visit(_ device: SimulatedDevice, in world: SimulatedWorld) async throws {
        let guest: TestCloud.User
        if let visitor { guest = visitor } else { guest = try await world.cloud.addUser("Bob") }
        visitor = guest
        // The device belongs to the user who was signed in at its first sync.
        let (_, error, found) = await device.sync()
        take(error, found, isSmooth: true, device)
        try await device.relaunch(as: guest)
        let (_, refusal, others) = await device.sync()
        problems += others
        if (refusal as? CloudStoreError)?.code != .blocked {
            problems.append("I17: \(device.name) syncs for another user")
        }
        let zones = try await device.container.privateCloudDatabase.allRecordZones()
        if zones.contains(where: { $0.zoneID.zoneName == Device.zoneID.zoneName }) {
            problems.append("I17: another user has the zone of \(device.name)")
        }
        try await device.relaunch()
        let (_, again, last) = await device.sync()
        take(again, last, isSmooth: true, device)
    }

    private func restore(
        _ device: SimulatedDevice,
        _ chance: inout SeededRandom,
        in world: SimulatedWorld
    ) async throws {
        let entries = try await device.store.journal()
        guard let entry = entries.randomElement(using: &chance) else { return }
        let before = try device.contents()
        let shown = try device.shown()
        do {
            try await device.store.restore(entry)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        } catch let error as CloudStoreError
            where [.noSuchTable, .noSuchRow, .valueTaken, .stillReferred].contains(error.code)
        {
            return
        }
        model.note(before, try device.contents(), by: device.name, saves: device.saves)
        try note(shown, on: device, in: world)
    }

    private func loseZone(in world: SimulatedWorld) async throws {
        model.loseZone()
        oracle.loseZone()
        let database = try await observer(of: 0, in: world).privateCloudDatabase
        _ = try? await database.deleteRecordZone(withID: Device.zoneID)
    }

    /// Returns a user's container, without a store.
    func observer(of user: Int, in world: SimulatedWorld) async throws -> CKContainer {
        if let known = observers[user] { return known }
        let made = try await world.cloud.device(of: world.users[user])
        observers[user] = made
        return made
    }
}

extension FaultRule {
    /// `true` when the user has to sign in again after it.
    fileprivate var endsSession: Bool {
        switch fault {
        case .expiredWebToken, .error(.authenticationRequired, _, _): true
        default: false
        }
    }
}
