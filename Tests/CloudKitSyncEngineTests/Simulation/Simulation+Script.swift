import CloudKit
import Foundation

/// External events of the devices.
enum Script {
    case edit(Int)
    case delete(Int)
    case deleteZone(Int)
    case fetch(Int)
    case send(Int)
    case cancel(Int)
    case crash(Int)
    case network(Int, isOnline: Bool)
    case account(Int, String?)
    case expireDatabaseToken
    case expireZoneTokens
}

extension Simulation {
    private static let troubleTime = 20_000

    mutating func planScript() {
        for _ in 0..<chance.number(25...70) {
            let time = Duration.milliseconds(chance.number(0...Self.troubleTime))
            queue.add(.script(script()), at: time)
        }
        queue.add(.peace, at: .milliseconds(Self.troubleTime))
    }

    private mutating func script() -> Script {
        let index = chance.number(0...devices.count - 1)
        switch chance.number(0...99) {
        case 0..<45: return .edit(index)
        case 45..<53: return .delete(index)
        case 53..<56: return .deleteZone(index)
        case 56..<64: return .fetch(index)
        case 64..<72: return .send(index)
        case 72..<75: return .cancel(index)
        case 75..<84: return .crash(index)
        case 84..<87: return .network(index, isOnline: false)
        case 87..<91: return .network(index, isOnline: true)
        case 91..<94: return .account(index, chance.element(of: ["ada", "bob", nil]))
        case 94..<97: return .expireDatabaseToken
        default: return .expireZoneTokens
        }
    }

    mutating func perform(_ script: Script) {
        note("\(script)")
        switch script {
        case .edit(let index):
            edit(index)
            // People continue to type while their last edit is in flight.
            if chance.one(of: 5) { queue.add(.script(.edit(index)), at: now + wait(20...300)) }
        case .delete(let index): delete(index)
        case .deleteZone(let index):
            doing(index) { $0.delete(zone: Self.doomedZone, tell: $1) }
        case .fetch(let index): fetch(index, chance.one(of: 3) ? scope() : .all)
        case .send(let index):
            let zoneID = CKRecordZone.ID(zoneName: Self.lastingZone)
            call(index, .send(.init(scope: chance.one(of: 3) ? .zoneIDs([zoneID]) : .all)))
        case .cancel(let index):
            lastNumber += 1
            devices[index].openCalls.insert(lastNumber)
            tell(index, .cancelAll(lastNumber))
        case .crash(let index): crash(index)
        case .network(let index, let isOnline): setNetwork(index, isOnline: isOnline)
        case .account(let index, let user): setAccount(index, user)
        case .expireDatabaseToken:
            // A zone that was deleted and recreated unseen looks like one that was never deleted.
            if !makesZonesAgain { cloud.expireDatabaseToken(of: "ada") }
        case .expireZoneTokens: cloud.expireZoneTokens(of: "ada", Self.lastingZone)
        }
    }

    private mutating func scope() -> CKSyncEngine.FetchChangesOptions.Scope {
        let zoneID = CKRecordZone.ID(zoneName: Self.doomedZone)
        return chance.one(of: 2) ? .zoneIDs([zoneID]) : .allExcluding([zoneID])
    }

    mutating func fetch(_ index: Int, _ scope: CKSyncEngine.FetchChangesOptions.Scope = .all) {
        call(index, .fetch(.init(scope: scope)))
    }

    mutating func call(_ index: Int, _ kind: SyncEngineCall.Kind) {
        lastNumber += 1
        devices[index].openCalls.insert(lastNumber)
        tell(index, .call(SyncEngineCall(id: lastNumber, kind: kind)))
    }

    private mutating func edit(_ index: Int) {
        guard let user = devices[index].app.user else { return }
        let zone = chance.one(of: 4) ? Self.doomedZone : Self.lastingZone
        let rows = devices[index].app.rows(of: user).keys
            .filter { $0.zoneID.zoneName == zone }
            .sorted { $0.recordName < $1.recordName }
        lastEdit += 1
        let recordID: CKRecord.ID
        if !rows.isEmpty, !chance.one(of: 4) {
            recordID = chance.element(of: rows)
        } else {
            let name =
                chance.one(of: 4)
                ? chance.element(of: ModelApp.commonNames) : "\(user)-\(index)-\(lastEdit)"
            recordID = CKRecord.ID(recordName: name, zoneID: .init(zoneName: zone))
        }
        let field = chance.number(0...1)
        let number = lastEdit
        doing(index) { $0.edit(recordID, field: field, number: number, tell: $1) }
        if zone == Self.lastingZone {
            edits[user, default: [:]][recordID, default: [0, 0]][field] = number
        }
    }

    private mutating func delete(_ index: Int) {
        guard let user = devices[index].app.user else { return }
        let rows = devices[index].app.rows(of: user).keys
            .filter { !ModelApp.commonNames.contains($0.recordName) }
            .sorted { $0.recordName < $1.recordName }
        guard !rows.isEmpty else { return }
        let recordID = chance.element(of: rows)
        doing(index) { $0.delete(recordID, tell: $1) }
        deleted.insert(recordID.recordName)
    }

    /// Ends the process and restarts it with its stored data.
    mutating func crash(_ index: Int) {
        var saved = devices[index].app.savedState
        if let state = saved, chance.one(of: 4) {
            saved = try? JSONDecoder().decode(
                CKSyncEngine.State.Serialization.self,
                from: JSONEncoder().encode(state)
            )
        }
        devices[index].life += 1
        devices[index].machine = Self.machine(saved, isAutomatic: devices[index].isAutomatic)
        devices[index].isListening = false
        devices[index].request = nil
        devices[index].openCalls = []
        devices[index].reason = .scheduled
        devices[index].grammar = EventGrammar()
        // A new process does not know the throttling of the last one.
        devices[index].throttledUntil = .zero
        start(index)
        doing(index) { app, tell in app.restart(tell: tell) }
    }

    private mutating func setNetwork(_ index: Int, isOnline: Bool) {
        devices[index].isOnline = isOnline
        if isOnline, devices[index].hasMissedPush {
            devices[index].hasMissedPush = false
            queue.add(.push(index), at: now + wait(1...50))
        }
    }

    private mutating func setAccount(_ index: Int, _ user: String?) {
        guard devices[index].account != user else { return }
        devices[index].account = user
        tell(index, .notice(.accountChanged))
    }

    mutating func makePeace() {
        note("peace")
        isPeace = true
        for index in devices.indices {
            setNetwork(index, isOnline: true)
            setAccount(index, devices[index].owner)
        }
    }
}
