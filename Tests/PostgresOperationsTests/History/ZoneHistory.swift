import ServerFixtures
import Support
import Synchronization

/// The calls of all clients to a zone, in the order of a clock that they share.
final class ZoneHistory: Sendable {
    typealias Operation = ZoneObject.Operation

    static let register = "register"

    private struct State {
        var now = 0
        var lastValue = 0
        var calls: [Call<Operation>] = []
    }

    let zone: String
    private let state = Mutex(State())

    init(zone: String) { self.zone = zone }

    var calls: [Call<Operation>] { state.withLock { $0.calls } }

    /// Returns a value that no other write has.
    func newValue() -> Int {
        state.withLock {
            $0.lastValue += 1; return $0.lastValue
        }
    }

    /// Returns the moment at which a call begins.
    func begin() -> Int {
        state.withLock {
            $0.now += 1; return $0.now
        }
    }

    /// Notes the outcome of a call that began at a moment.
    ///
    /// - Parameters:
    ///   - operation: The operation with its outcome.
    ///   - start: The moment.
    ///   - isKnown: `false` if the outcome is that of an operation that took effect, which nobody knows.
    func note(_ operation: Operation, since start: Int, isKnown: Bool = true) {
        state.withLock { state in
            state.now += 1
            state.calls.append(
                Call(operation: operation, start: start, end: isKnown ? state.now : nil)
            )
        }
    }

    var zoneID: JSON { ["zoneName": .string(zone)] }

    static func name(_ number: Int) -> String { "e\(number)" }

    static func bit(of name: String) -> UInt64? {
        guard name.first == "e" else { return nil }
        return Int(name.dropFirst()).map { 1 << UInt64($0) }
    }

    /// Creates the zone with a register that has 0, so that all record types and indexes exist.
    func prepare(_ door: Door) async throws {
        _ = try await door.callUntilDone(
            "zones/modify",
            ["operations": [["operationType": "create", "zone": ["zoneID": zoneID]]]],
            node: 0
        )
        let seed = [
            FixtureCloud.note(
                "forceReplace",
                Self.register,
                ["value": ["value": 0]],
                type: "Register"
            ), FixtureCloud.note("forceReplace", Self.name(0), type: "Element"),
        ]
        for operations in [seed, [FixtureCloud.note("forceDelete", Self.name(0))]] {
            _ = try await door.callUntilDone(
                "records/modify",
                ["zoneID": zoneID, "operations": .array(operations)],
                node: 0
            )
        }
    }
}

/// One client of a zone, which does one call after the other, and follows the feed.
struct ZoneClient {
    private let door: Door
    private let history: ZoneHistory
    private var chance: SeededRandom
    /// The value and the tag of the register that the client saw last.
    private var seen: (value: Int, tag: JSON)?
    private var follower = Follower()

    init(_ door: Door, _ history: ZoneHistory, seed: UInt64) {
        self.door = door
        self.history = history
        chance = SeededRandom(seed: seed)
    }

    /// Does a random call through a random node.
    mutating func step() async {
        let node = Int.random(in: 0..<door.nodes.count, using: &chance)
        // Few names, so that clients meet.
        let name = Int.random(in: 0..<12, using: &chance)
        switch Int.random(in: 0..<20, using: &chance) {
        case 0..<3: await read(node)
        case 3..<5: await write(node)
        case 5..<9: await exchange(node, adding: nil)
        case 9..<11: await exchange(node, adding: name)
        case 11..<14: await add(name, node)
        case 14..<16: await remove(name, node)
        case 16: await find(node)
        case 17: await list(node)
        default: await follow(node)
        }
    }

    // MARK: Reads

    private mutating func read(_ node: Int) async {
        let start = history.begin()
        let reply = await door.call(
            "records/lookup",
            [
                "zoneID": history.zoneID,
                "records": [["recordName": .string(ZoneHistory.register)]],
            ],
            node: node
        )
        guard case .done(let body) = reply else { return }
        note(body.records[0], since: start) { .read($0) }
    }

    /// Notes what a record says of the register.
    private mutating func note(
        _ record: JSON,
        since start: Int,
        _ operation: (Int) -> ZoneObject.Operation
    ) {
        guard case .int(let value) = record.fields.value.value else {
            door.problems.add("\(history.zone) has the register \(record)")
            return
        }
        seen = (Int(value), record.recordChangeTag)
        history.note(operation(Int(value)), since: start)
    }

    private func find(_ node: Int) async {
        let start = history.begin()
        let reply = await door.call(
            "records/query",
            ["zoneID": history.zoneID, "query": ["recordType": "Element"]],
            node: node
        )
        guard case .done(let body) = reply else { return }
        let names = body.records.elements.compactMap(\.recordName.text)
        history.note(.find(names: Self.bits(names)), since: start)
    }

    /// Reads the whole feed, which fits in one page.
    private mutating func list(_ node: Int) async {
        let start = history.begin()
        guard case .done(let body) = await page(.null, node) else { return }
        let live = body.zones[0].records.elements.filter { $0.deleted != true }
        guard let register = live.first(where: { $0.recordName.text == ZoneHistory.register })
        else { return door.problems.add("\(history.zone) lists no register: \(body)") }
        let names = Self.bits(live.compactMap(\.recordName.text))
        note(register, since: start) { .list(register: $0, names: names) }
    }

    private static func bits(_ names: [String]) -> UInt64 {
        names.compactMap(ZoneHistory.bit).reduce(0, |)
    }

    private func page(_ token: JSON, _ node: Int) async -> Door.Reply {
        await door.call(
            "changes/zone",
            ["zones": [["zoneID": history.zoneID, "syncToken": token]]],
            node: node
        )
    }

    /// Reads on in the feed where the client was, which may have been on another node.
    private mutating func follow(_ node: Int) async {
        guard case .done(let body) = await page(follower.token, node) else { return }
        if let problem = follower.take(body.zones[0]) {
            door.problems.add("\(history.zone): \(problem)")
        }
    }

    /// Reads the whole feed, again until that succeeds.
    func readAll() async throws {
        let before = history.calls.count
        while history.calls.count == before {
            var client = self
            await client.list(0)
            try Task.checkCancellation()
        }
    }

    /// Follows the feed to its end; returns what the client knows of the zone then.
    mutating func catchUp() async throws -> [String: JSON] {
        repeat {
            let before = follower.pages
            while follower.pages == before {
                await follow(Int.random(in: 0..<door.nodes.count, using: &chance))
                try Task.checkCancellation()
            }
        } while follower.isMoreComing
        return follower.tags
    }

    // MARK: Writes

    private func modify(_ operations: [JSON], _ node: Int) async -> Door.Reply {
        await door.call(
            "records/modify",
            ["zoneID": history.zoneID, "operations": .array(operations), "atomic": true],
            node: node
        )
    }

    /// Sends operations, and notes an operation of the zone with the outcome.
    private func modify(
        _ operations: [JSON],
        _ node: Int,
        _ operation: (_ isDone: Bool) -> ZoneObject.Operation
    ) async -> JSON? {
        let start = history.begin()
        switch await modify(operations, node) {
        case .refused: return nil
        case .unknown:
            history.note(operation(true), since: start, isKnown: false)
            return nil
        case .done(let body):
            let codes = body.records.elements.compactMap(\.serverErrorCode.text)
            history.note(operation(codes.isEmpty), since: start)
            if !Set(["CONFLICT", "NOT_FOUND", "ATOMIC_ERROR"]).isSuperset(of: codes) {
                door.problems.add("\(history.zone): \(body)")
            }
            guard codes.isEmpty else { return nil }
            return body
        }
    }

    private static func register(_ kind: String, _ value: Int, tag: JSON = .null) -> JSON {
        FixtureCloud.note(
            kind,
            ZoneHistory.register,
            ["value": ["value": .int(Int64(value))]],
            tag: tag,
            type: "Register"
        )
    }

    private static func element(_ kind: String, _ name: Int) -> JSON {
        FixtureCloud.note(kind, ZoneHistory.name(name), type: "Element")
    }

    private mutating func write(_ node: Int) async {
        let value = history.newValue()
        let body = await modify([Self.register("forceUpdate", value)], node) { _ in .write(value) }
        seen = body.map { (value, Self.tag($0)) }
    }

    /// Writes over the value that the client saw last, and adds a name in the same batch.
    private mutating func exchange(_ node: Int, adding name: Int?) async {
        guard let (expected, tag) = seen else { return await read(node) }
        let value = history.newValue()
        let update = Self.register("update", value, tag: tag)
        let body =
            if let name {
                await modify([update, Self.element("create", name)], node) {
                    .exchangeAndAdd(expected, to: value, name, isDone: $0)
                }
            } else {
                await modify([update], node) { .exchange(expected, to: value, isDone: $0) }
            }
        seen = body.map { (value, Self.tag($0)) }
    }

    /// Returns the tag of the register in a response, which may have any order.
    private static func tag(_ body: JSON) -> JSON {
        body.records.elements.first { $0.recordName.text == ZoneHistory.register }?.recordChangeTag
            ?? .null
    }

    private func add(_ name: Int, _ node: Int) async {
        _ = await modify([Self.element("create", name)], node) { .add(name, isDone: $0) }
    }

    private func remove(_ name: Int, _ node: Int) async {
        _ = await modify([Self.element("forceDelete", name)], node) { .remove(name, isDone: $0) }
    }
}
