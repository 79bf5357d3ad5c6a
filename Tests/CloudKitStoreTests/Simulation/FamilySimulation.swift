import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Synchronization

/// A simulation that runs three users' stores at random: each shares trees of rows, participates in
/// those of others, moves, edits and deletes rows, and loses processes.
///
/// The rows that each user must see are computed from the service's records, see ``FamilyOracle``.
actor FamilySimulation {
    /// The outcome of a schedule.
    struct Outcome: Sendable {
        var problems: [String] = []
        var trace: [String] = []
    }

    private static let stepCount = 36
    private static let users = ["Ada", "Bob", "Cleo"]

    private var chance: SeededRandom
    /// `true` when users give the same keys to their rows.
    private let sharesKeys: Bool
    /// `true` when users replace rows.
    private let replaces: Bool
    /// `true` when most shares are of whole zones.
    private let sharesZones: Bool
    /// `true` when responses are lost and connections are cut.
    private let losesResponses: Bool
    private var devices: [SimulatedDevice] = []
    private var problems: [String] = []
    /// A number that makes keys and values of edits unique.
    private var number = 0
    private let world: SimulatedWorld
    private let oracle: FamilyOracle

    private init(
        seed: UInt64,
        _ cloud: TestCloud,
        _ connection: Cloud,
        sharesKeys: Bool,
        replaces: Bool,
        sharesZones: Bool,
        losesResponses: Bool
    ) async throws {
        chance = SeededRandom(seed: seed)
        self.sharesKeys = sharesKeys
        self.replaces = replaces
        self.sharesZones = sharesZones
        self.losesResponses = losesResponses
        var users: [TestCloud.User] = []
        var observers: [CKContainer] = []
        for name in Self.users {
            let user = try await cloud.addUser(name)
            users.append(user)
            observers.append(try await cloud.device(of: user))
        }
        world = SimulatedWorld(
            cloud: cloud,
            users: users,
            variant: .families,
            connection: connection
        )
        oracle = FamilyOracle(users: users, observers: observers)
    }

    /// Runs the schedule of a seed.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - sharesKeys: Whether users give the same keys to their rows.
    ///   - replaces: Whether users replace rows.
    ///   - sharesZones: Whether most shares are of whole zones.
    ///   - fixture: The connection of the devices; one over HTTP loses responses.
    /// - Returns: The outcome.
    static func run(
        seed: UInt64,
        sharesKeys: Bool = false,
        replaces: Bool = false,
        sharesZones: Bool = false,
        over fixture: CloudFixture = .inProcess
    ) async -> Outcome {
        let outcome = Mutex(Outcome())
        do {
            let cloud = try await TestCloud.ofRun(
                clock: VirtualClock(startingAt: SimulatedWorld.beginning),
                randomness: SeededRandomness(seed: seed)
            )
            try await fixture.run(cloud) { connection in
                let simulation = try await FamilySimulation(
                    seed: seed,
                    cloud,
                    connection,
                    sharesKeys: sharesKeys,
                    replaces: replaces,
                    sharesZones: sharesZones,
                    losesResponses: fixture == .overHTTP
                )
                let found = await simulation.run()
                outcome.withLock { $0 = found }
            }
        } catch {
            return Outcome(problems: ["E: \(error)"])
        }
        return outcome.withLock(\.self)
    }

    private func run() async -> Outcome {
        do {
            try await addDevices()
            if chance.chance(60) { try await begin() }
            for step in 1...Self.stepCount where problems.isEmpty {
                world.cloud.clock.advance(by: .seconds(1))
                try await carryOut()
                // Several times, so that a schedule has several episodes.
                if step % 12 == 0, problems.isEmpty { try await rest() }
                if step % 12 == 0, problems.isEmpty, sharesZones { try await placeNewRows() }
            }
        } catch {
            problems.append("E: \(error)")
        }
        for device in devices { await device.store.stop() }
        return Outcome(problems: problems, trace: world.trace.lines + problems)
    }

    private func addDevices() async throws {
        for user in Self.users.indices {
            for _ in 0..<chance.number(1...2) {
                let plan = SimulationPlan.Device(
                    skew: .random(in: -SimulationPlan.day...SimulationPlan.day, using: &chance),
                    isNew: false,
                    batchLimit: [1, 2, 5, 200].randomElement(using: &chance) ?? 200,
                    user: user,
                    pageLimit: [1, 2, 5, nil].randomElement(using: &chance) ?? nil
                )
                devices.append(try await SimulatedDevice(devices.count, plan, in: world))
            }
        }
    }

    /// Shares two boards of the first user whose rows refer to each other, and accepts them for the others.
    private func begin() async throws {
        number = 9
        try devices[0].write(FamilyEdit.beginning)
        if sharesZones {
            try await share(nil, with: [1, 2], devices[0])
        } else {
            for board in ["b0001", "b0002"] { try await share(board, with: [1, 2], devices[0]) }
        }
        for device in devices where device.user != 0 {
            for _ in 0..<2 { try await accept(device) }
        }
        try await rest()
    }

    // MARK: Steps

    private func carryOut() async throws {
        let device = devices[chance.number(0...devices.count - 1)]
        try device.pass()
        switch chance.number(0...99) {
        case 0..<42: for _ in 0..<chance.number(1...3) { try edit(device) }
        case 42..<62: try await act(device, "syncs") { _ = try await $0.sync() }
        case 62..<73: try await share(device)
        case 73..<79: try await unshare(device)
        case 79..<90: try await accept(device)
        case 90..<94: try await leave(device)
        case 94..<97:
            world.trace.add("\(device.name) opens again")
            try await device.relaunch()
        default: try await act(device, "syncs", crash: .random(&chance)) { _ = try await $0.sync() }
        }
        problems += try await device.inspect()
        problems += try await inspectTokens(device)
    }

    /// Runs an operation of a store, during which the process may end.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - what: The operation in words.
    ///   - crash: The end of the process.
    ///   - mayBeRefused: Whether the service may refuse the operation.
    ///   - body: The operation.
    private func act(
        _ device: SimulatedDevice,
        _ what: String,
        crash: SimulationStep.Crash? = nil,
        mayBeRefused: Bool = false,
        _ body: (CloudStore) async throws -> Void
    ) async throws {
        world.trace.add("\(device.name) \(what)" + (crash.map { ", ends \($0)" } ?? ""))
        if losesResponses {
            let rules = [
                FaultRule(.lostResponse, operation: "records/modify", probability: 0.2),
                FaultRule(.resetConnection, probability: 0.05),
            ]
            world.cloud.setFaults(FaultPlan(seed: chance.next(), rules: rules))
        }
        let (_, error, found) = await device.carryOut(crash: crash, body)
        world.cloud.setFaults(nil)
        problems += found
        if crash != nil {
            try await device.relaunch()
            return try device.pass(milliseconds: 5000)
        }
        switch error {
        case nil: break
        case _ as CKError where mayBeRefused: break
        // Rows of others, rows deleted meanwhile, or rows shared with the one above.
        case let error as CloudStoreError
        where [.notShared, .neverSent, .noSuchRow].contains(error.code): break
        case let error as CKError where error.code == .unknownItem || losesResponses: break
        case let error?: problems.append("\(device.name) cannot: \(what): \(error)")
        }
    }

    /// Returns the end of the process in one of six cases.
    private func crash() -> SimulationStep.Crash? {
        chance.chance(16) ? .random(&chance) : nil
    }

    private func share(_ device: SimulatedDevice) async throws {
        let boards = try device.boards(zone: "")
        let isWhole = sharesZones && chance.chance(75)
        let board = isWhole ? nil : boards.randomElement(using: &chance)
        guard isWhole || board != nil else { return }
        let others = Self.users.indices.filter { $0 != device.user && chance.chance(70) }
        try await share(board, with: others, device)
    }

    /// Shares a board, or the whole zone, with some users and no others.
    private func share(
        _ board: String?,
        with users: [Int],
        _ device: SimulatedDevice
    ) async throws {
        var guests: [(name: String, permission: CKShare.ParticipantPermission)] = []
        for user in users {
            let permission: CKShare.ParticipantPermission =
                chance.chance(75) ? .readWrite : .readOnly
            guests.append((world.users[user].recordName, permission))
        }
        var asked: [CKShare.Participant] = []
        for guest in guests {
            let participant = try await oracle.observers[device.user].shareParticipant(
                forUserRecordID: CKRecord.ID(recordName: guest.name)
            )
            participant.permission = guest.permission
            asked.append(participant)
        }
        let participants = asked
        let rights = participants.map { $0.permission == .readOnly ? "reads" : "writes" }
        let configure: @Sendable (CKShare) -> Void = { share in
            let kept = participants.map { $0.userIdentity.userRecordID?.recordName }
            for other in share.participants where other.role != .owner {
                let name = other.userIdentity.userRecordID?.recordName
                guard let place = kept.firstIndex(of: name) else {
                    share.removeParticipant(other)
                    continue
                }
                other.permission = participants[place].permission
            }
            let known = share.participants.map { $0.userIdentity.userRecordID?.recordName }
            for participant in participants
            where !known.contains(participant.userIdentity.userRecordID?.recordName) {
                share.addParticipant(participant)
            }
        }
        let what = "shares \(board ?? "everything") with \(guests.map(\.name)) \(rights)"
        try await act(
            device,
            what,
            crash: crash(),
            mayBeRefused: try await isTaken(for: board, device)
        ) { store in
            if let board {
                try await store.share(
                    board,
                    in: "board",
                    ifIncomplete: .shareOthers,
                    configure: configure
                )
            } else {
                try await store.shareEverything(configure: configure)
            }
        }
    }

    /// Returns whether the user's zone has a share of the other kind: a tree's, or the whole zone's.
    private func isTaken(for board: String?, _ device: SimulatedDevice) async throws -> Bool {
        guard sharesZones else { return false }
        let names = try await oracle.zones()[device.user].shares.keys
        let isWhole = names.contains(CKRecordNameZoneWideShare)
        return board == nil ? !isWhole && !names.isEmpty : isWhole
    }

    private func unshare(_ device: SimulatedDevice) async throws {
        if sharesZones, chance.chance(75) {
            return try await act(device, "unshares everything", crash: crash()) {
                try await $0.unshareEverything()
            }
        }
        let tops = try device.tops(areOwn: true)
        guard let board = tops.randomElement(using: &chance) else { return }
        try await act(device, "unshares \(board)", crash: crash()) {
            try await $0.unshare(board, in: "board")
        }
    }

    private func leave(_ device: SimulatedDevice) async throws {
        if sharesZones, chance.chance(75) {
            let others = world.users.indices.filter { $0 != device.user }
            guard let other = others.randomElement(using: &chance) else { return }
            let owner = world.users[other].recordName
            return try await act(device, "leaves everything of \(owner)", crash: crash()) {
                try await $0.leaveEverything(of: owner)
            }
        }
        let tops = try device.tops(areOwn: false)
        guard let board = tops.randomElement(using: &chance) else { return }
        try await act(device, "leaves \(board)", crash: crash()) {
            try await $0.leave(board, in: "board")
        }
    }

    private func accept(_ device: SimulatedDevice) async throws {
        let links = try await oracle.invitations(of: device.user)
        guard let link = links.randomElement(using: &chance) else { return }
        let container = device.container
        try await act(device, "accepts \(link.lastPathComponent)", crash: crash()) {
            try await $0.accept(container.shareMetadata(for: link))
        }
    }

    // MARK: Edits

    /// Inserts a row below no other on each device, and checks in whose zone it is.
    private func placeNewRows() async throws {
        let before = try await oracle.zones()
        var expected: [(name: String, owner: Int, device: String)] = []
        for device in devices {
            number += 1
            let key = FamilyEdit.boardKey(number)
            try device.write("INSERT INTO board (id, name) VALUES ('\(key)', 'v\(number)')")
            world.trace.add("\(device.name) inserts \(key)")
            let owner = oracle.owner(ofNewRowsOf: device.user, in: before)
            expected.append(("board:" + key, owner, device.name))
        }
        try await rest()
        guard problems.isEmpty else { return }
        let after = try await oracle.zones()
        for row in expected {
            let found = after.indices.filter { after[$0].records[row.name] != nil }
            if found != [row.owner] {
                problems.append(
                    "\(row.device)'s new \(row.name) is with users \(found), not \(row.owner)"
                )
            }
        }
    }

    private func edit(_ device: SimulatedDevice) throws {
        number += 1
        let sql = FamilyEdit.sql(
            try device.contents(),
            number,
            sharesKeys: sharesKeys,
            replaces: replaces,
            &chance
        )
        do {
            try device.write(sql)
            world.trace.add("\(device.name) \(sql)")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Another user's row that is read-only, or that one's own rows cannot refer to.
            world.trace.add("\(device.name) may not \(sql)")
        }
    }

    // MARK: Looking

    /// Returns the changes that a device must know by its tokens, but does not.
    private func inspectTokens(_ device: SimulatedDevice) async throws -> [String] {
        let container = oracle.observers[device.user]
        var found = try await device.inspectToken(against: container.privateCloudDatabase)
        for owner in world.users.indices where owner != device.user {
            found += try await device.inspectToken(
                against: container.sharedCloudDatabase,
                CKRecordZone.ID(
                    zoneName: Device.zoneID.zoneName,
                    ownerName: world.users[owner].recordName
                )
            )
        }
        return found
    }

    /// Syncs all devices until none has changes left, and checks the rows that each user sees.
    private func rest() async throws {
        var isQuiet = false
        for _ in 0..<10 where !isQuiet && problems.isEmpty {
            isQuiet = true
            for device in devices {
                world.trace.add("\(device.name) rests")
                let (summary, error, found) = await device.sync()
                problems += found
                if let error { problems.append("\(device.name) cannot rest: \(error)") }
                let isIdle = summary.map {
                    $0.saved == 0 && $0.deleted == 0 && $0.received.isEmpty
                }
                if isIdle != true { isQuiet = false }
            }
        }
        guard problems.isEmpty else { return }
        if !isQuiet { problems.append("The devices have something to tell each other for ever") }
        let zones = try await oracle.zones()
        var hidden: [Int: Set<String>] = [:]
        for device in devices {
            problems += try oracle.check(device, against: zones)
            let found = try await device.store.verify()
            if !found.differences.isEmpty {
                problems.append("\(device.name) verifies \(found.differences)")
            }
            let names = Set(found.hidden.map { "\($0.owner ?? "") \($0.recordName)" })
            if let others = hidden.updateValue(names, forKey: device.user), others != names {
                problems.append("\(device.name) hides \(names), another device \(others)")
            }
            let status = try await device.store.status
            let isSettled = sharesKeys ? status.waitingToSend == 0 : status.isSettled
            if !isSettled { problems.append("\(device.name) waits: \(status.explanation)") }
        }
    }
}

extension SimulationStep.Crash {
    /// Returns a random end of a process, within the range of a short sync.
    fileprivate static func random(_ chance: inout SeededRandom) -> Self {
        let number = chance.number(0...(chance.chance(50) ? 5 : 12))
        return switch chance.number(0...3) {
        case 0: .beforeRequest(number)
        case 1: .afterRequest(number)
        case 2: .afterCommit(number + 1)
        default: .withoutCommit(number + 1)
        }
    }
}

extension SimulatedDevice {
    fileprivate func write(_ sql: String) throws {
        try database.inDatabase { database in
            try database.inTransaction(.immediate) {
                try database.execute(sql: sql)
                return .commit
            }
        }
    }

    /// Returns the boards that are not known to be another user's.
    fileprivate func boards(zone: String) throws -> [String] {
        try database.read {
            try String.fetchAll(
                $0,
                sql: """
                    SELECT id FROM board WHERE coalesce((SELECT zone FROM grdb_cloudkit_place
                        WHERE tbl = 'board' AND key = id), '') = ? ORDER BY id
                    """,
                arguments: [zone]
            )
        }
    }

    /// Returns the boards that are roots of shares in the file.
    fileprivate func tops(areOwn: Bool) throws -> [String] {
        try database.read {
            try String.fetchAll(
                $0,
                sql: """
                    SELECT key FROM grdb_cloudkit_place
                    WHERE share IS NOT NULL AND (zone = '') = ? ORDER BY key
                    """,
                arguments: [areOwn]
            )
        }
    }
}
