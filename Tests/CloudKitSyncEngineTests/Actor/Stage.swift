import CloudKit
import Support
import Synchronization

/// A stage that runs engines on one thread in virtual time: a seed determines which job runs next,
/// which request passes, and its outcome.
///
/// Only one external event is allowed at a time, and only when no engine has a job left; so the same
/// seed yields the same run.
final class Stage {
    let clock = VirtualClock()
    let executor: SeededExecutor
    private(set) var devices: [(app: Contacts, service: StagedService)] = []
    private var chance: SeededRandom
    private let engineChance: Mutex<SeededRandom>
    private let lines = Mutex<[String]>([])
    private var lastEdit = 0

    init(seed: UInt64) {
        executor = SeededExecutor(seed: seed)
        chance = SeededRandom(seed: seed &+ 1)
        engineChance = Mutex(SeededRandom(seed: seed &+ 2))
    }

    /// The events so far, line by line.
    var trace: [String] { lines.withLock { $0 } }

    func addDevice(_ database: CKDatabase, isAutomatic: Bool) async {
        let index = devices.count
        let service = StagedService(database)
        let environment = SyncEngineEnvironment(
            clock: clock,
            chance: { [weak self] in self?.engineChance.withLock { $0.fraction() } ?? 0 },
            log: { _ in },
            executor: executor
        )
        let app = Contacts(
            database,
            isAutomatic: isAutomatic,
            service: service,
            environment: environment
        ) { [weak self] _, event, _ in self?.note("\(index) event \(Self.text(event))") }
        devices.append((app, service))
        await executor.drain()
    }

    func note(_ line: String) {
        let time = clock.now.time
        lines.withLock { $0.append("\(time) \(line)") }
    }

    private static func text(_ event: CKSyncEngine.Event) -> String {
        // Users' names, and servers' error messages, differ between clouds.
        if case .accountChange = event { return "accountChange" }
        return "\(event)".split(separator: "<").first.map(String.init) ?? ""
    }

    private static func text(_ request: SyncRequest) -> String {
        switch request {
        case .identifyUser: "identify"
        case .subscribe: "subscribe"
        case .databaseChanges(let token): "databaseChanges \(token == nil ? "all" : "since")"
        case .zoneChanges(let zoneID, let token):
            "zoneChanges \(zoneID.zoneName) \(token == nil ? "all" : "since")"
        case .modifyZones(let saving, let deleting):
            "modifyZones \(saving.map(\.zoneID.zoneName)) \(deleting.map(\.zoneName))"
        case .modifyRecords(let batch):
            "modifyRecords \(batch.recordsToSave.map(\.recordID.recordName)) "
                + "\(batch.recordIDsToDelete.map(\.recordName))"
        }
    }

    // MARK: Steps

    /// Performs an event that the seed chooses.
    func step() async {
        let index = chance.number(0...devices.count - 1)
        switch chance.number(0...9) {
        case 0, 1: edit(index)
        case 2: call(index, "send") { try await $0.sendChanges() }
        case 3: call(index, "fetch") { try await $0.fetchChanges() }
        case 4:
            note("\(index) push")
            devices[index].service.push()
        case 5: if let time = clock.next { clock.advance(to: time) }
        default: await pass(index, fault: chance.number(0...9))
        }
        await executor.drain()
    }

    private func edit(_ index: Int) {
        lastEdit += 1
        let id = "\(chance.number(1...6))"
        if chance.one(of: 4) {
            note("\(index) deletes \(id)")
            devices[index].app.delete([id])
        } else {
            note("\(index) saves \(id)")
            devices[index].app.save([id: "edit \(lastEdit)"])
        }
    }

    private func call(
        _ index: Int,
        _ name: String,
        _ body: @escaping @Sendable (CKSyncEngine) async throws -> Void
    ) {
        note("\(index) calls \(name)")
        let engine = devices[index].app.engine
        // Ends when the engine has done the requested work.
        Task(executorPreference: executor) { @concurrent [self] in
            do {
                try await body(engine)
                note("\(index) \(name) done")
            } catch {
                note("\(index) \(name) failed: \((error as? CKError).map { "\($0.code)" } ?? "")")
            }
        }
    }

    /// Passes a device's request on, loses its response, or loses the request.
    private func pass(_ index: Int, fault: Int) async {
        let service = devices[index].service
        guard let waiting = service.takeRequest() else { return }
        note("\(index) request \(Self.text(waiting.request)) \(fault)")
        var response = SyncResponse.failure(CKError(.networkFailure))
        switch fault {
        case 0: break
        case 1:
            let busy = [CKErrorRetryAfterKey: 3.0]
            response = .failure(CKError(.serviceUnavailable, userInfo: busy))
        case 2: _ = await service.base.respond(to: waiting.request, for: waiting.user, in: nil)
        default:
            response = await service.base.respond(to: waiting.request, for: waiting.user, in: nil)
        }
        waiting.continuation.resume(returning: response)
    }

    /// Passes everything on until nothing is left to do.
    func settle() async {
        for _ in 0..<10_000 {
            await executor.drain()
            if let index = devices.indices.first(where: { devices[$0].service.isWaiting }) {
                await pass(index, fault: 9)
            } else if let time = clock.next {
                clock.advance(to: time)
            } else {
                return
            }
        }
        note("never settles")
    }

    /// Lets every device send and fetch until nothing is left.
    func makePeace() async {
        await settle()
        for round in 0..<3 {
            for index in devices.indices {
                for _ in 0..<3 {
                    call(index, "last send \(round)") { try await $0.sendChanges() }
                    await settle()
                }
                call(index, "last fetch \(round)") { try await $0.fetchChanges() }
                await settle()
            }
        }
    }
}

extension Stage: @unchecked Sendable {
    // @unchecked Sendable because only the test's own task moves the stage; the parts that engines
    // touch, the lines and their random numbers, are behind locks.
}
