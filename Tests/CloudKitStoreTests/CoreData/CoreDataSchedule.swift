import CloudKit
import CloudKitCoreData
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Synchronization

/// A schedule of a phone with the app, and of two devices that have the model's tables: they edit one zone at random,
/// and lose responses.
///
/// At rest all show the same objects and links, a value that somebody saw and replaced is never back, no object
/// is gone that nobody deleted, and a link is there exactly if somebody made it, unless somebody removed it. In some
/// schedules the phone shares objects, which then move with all that are connected with them; links that others
/// made meanwhile between two zones are quarantined, and removed at the end.
actor CoreDataSchedule {
    private static let stepCount = 24

    /// A link, by its relationship and its objects.
    private struct Pair: Hashable, Comparable {
        var relationship: String
        var source: String
        var target: String

        static func < (one: Pair, other: Pair) -> Bool {
            (one.relationship, one.source, one.target)
                < (other.relationship, other.source, other.target)
        }
    }

    /// The objects and links that somebody shows.
    private struct View: Equatable {
        /// The values of attributes and to-one relationships, by object.
        var objects: [String: [String: String]] = [:]
        var links: Set<Pair> = []
    }

    private static let attributes = [
        "Post": ["title", "body", "mood"], "Tag": ["name"], "Person": ["name"],
    ]

    private var chance: SeededRandom
    private let cloud: TestCloud
    private let user: TestCloud.User
    private let phone: PhoneApp
    private var devices: [ModelDevice] = []
    private var ways: [InterruptedTransport] = []
    private var number = 0
    private let hasLargeValues: Bool
    private let shares: Bool
    private var trace: [String] = []

    /// The oracle's knowledge: entities of objects, the deleted ones, replaced values by object and attribute, links.
    private var entities: [String: String] = [:]
    private var deleted: Set<String> = []
    private var replaced: [String: Set<String>] = [:]
    private var linked: Set<Pair> = []
    private var unlinked: Set<Pair> = []

    private init(seed: UInt64) async throws {
        chance = SeededRandom(seed: seed)
        hasLargeValues = seed.isMultiple(of: 20)
        shares = seed % 4 == 3
        cloud = try await TestCloud(
            clock: VirtualClock(startingAt: SimulatedWorld.beginning),
            randomness: SeededRandomness(seed: seed)
        )
        user = try await cloud.addUser("Ada")
        phone = PhoneApp(try await cloud.device(of: user))
    }

    /// Runs the schedule of a seed, and returns its problems and its steps.
    static func run(seed: UInt64) async -> (problems: [String], trace: [String]) {
        do {
            let schedule = try await CoreDataSchedule(seed: seed)
            let problems = try await schedule.run(seed: seed)
            return (problems, await schedule.trace)
        } catch {
            return (["\(error)"], [])
        }
    }

    private func run(seed: UInt64) async throws -> [String] {
        try await phone.setUp()
        for number in 1...2 { try await addDevice("d\(number)") }
        for _ in 0..<Self.stepCount {
            cloud.clock.advance(by: .seconds(1))
            for device in devices {
                try await device.run("UPDATE grdb_cloudkit_control SET wall = wall + 1000")
            }
            try await step()
        }
        try await rest()
        if shares, try await dropLinksBetweenZones() { try await rest() }
        // A new device sees the same.
        if seed.isMultiple(of: 8) {
            try await addDevice("d3")
            try await devices[2].store.sync()
        }
        let problems = try await self.problems()
        for device in devices { await device.store.stop() }
        return problems
    }

    private func addDevice(_ name: String) async throws {
        var way: InterruptedTransport?
        let container = try await cloud.device(of: user) { base in
            let made = InterruptedTransport(base)
            way = made
            return made
        }
        let device = try await ModelDevice(container, name: name)
        // Clocks differ by up to an hour.
        let skew = Int64.random(in: -3_600_000...3_600_000, using: &chance)
        try await device.run(
            "UPDATE grdb_cloudkit_control SET wall = ?, clock = 0",
            [SimulatedWorld.beginning + skew]
        )
        devices.append(device)
        if let way { ways.append(way) }
    }

    private func rest() async throws {
        for _ in 0..<4 {
            try await phone.sync()
            for device in devices { try await device.store.sync() }
        }
    }

    // MARK: Steps

    private func step() async throws {
        if shares, chance.chance(10) { return try await share() }
        let place = Int.random(in: 0...2, using: &chance)
        let who = place == 0 ? nil : devices[place - 1]
        let name = place == 0 ? "phone" : "d\(place)"
        if chance.chance(35) {
            trace.append("\(name) syncs")
            guard let who else { return try await phone.sync() }
            if chance.chance(20) {
                let isLost = chance.chance(50)
                trace.append(isLost ? "  the response is lost" : "  the request is lost")
                ways[place - 1].fail("/records/modify", isLost ? .lost : .cut)
            }
            // The fault is the error of this call, or none if there was nothing to send.
            _ = try? await who.store.sync()
            ways[place - 1].script.withLock { $0.faults = [] }
            return
        }
        for _ in 0..<Int.random(in: 1...3, using: &chance) { try await edit(who, name) }
    }

    private func edit(_ device: ModelDevice?, _ name: String) async throws {
        let view = try await self.view(device)
        let here = view.objects.keys.sorted()
        switch Int.random(in: 0..<100, using: &chance) {
        case 0..<25: try await insert(device, name)
        case 25..<60:
            guard let object = here.randomElement(using: &chance) else { return }
            try await change(object, device, name, view)
        case 60..<70:
            if device == nil, shares { try await phone.sync() }
            let people = here.filter { entities[$0] == "Person" }
            guard let one = people.randomElement(using: &chance) else { return }
            let target = chance.chance(20) ? nil : people.randomElement(using: &chance)
            if device == nil, let target, await !phone.mayConnect(one, target) { return }
            trace.append("\(name): \(one).manager = \(target ?? "nil")")
            if let device {
                try await device.run(
                    "UPDATE Person SET manager = ? WHERE recordName = ?",
                    [target, one]
                )
            } else {
                await phone.set("manager", to: target, of: one)
            }
        case 70..<85: try await link(device, name, here)
        case 85..<93:
            guard let pair = view.links.sorted().randomElement(using: &chance) else { return }
            try await unlink(pair, device, name)
        default:
            guard let object = here.randomElement(using: &chance) else { return }
            trace.append("\(name) deletes \(object)")
            deleted.insert(object)
            if let device {
                let table = entities[object] ?? ""
                try await device.run("DELETE FROM \(table) WHERE recordName = ?", [object])
            } else {
                await phone.delete(object)
            }
        }
    }

    private func newValue() -> String {
        number += 1
        // Some values become assets, in few schedules, because they take their time.
        let isLarge = hasLargeValues && chance.chance(10)
        return "v\(number)" + (isLarge ? String(repeating: "x", count: 720_000) : "")
    }

    private func insert(_ device: ModelDevice?, _ name: String) async throws {
        guard let entity = Self.attributes.keys.sorted().randomElement(using: &chance),
            let attribute = Self.attributes[entity]?.first
        else { return }
        let value = newValue()
        let object: String
        if let device {
            object = "\(name)-\(number)"
            try await device.run(
                "INSERT INTO \(entity) (recordName, \(attribute)) VALUES (?, ?)",
                [object, value]
            )
        } else {
            object = await phone.insert(entity, [attribute: .text(value)])
        }
        entities[object] = entity
        trace.append("\(name) inserts \(entity) \(object) with \(value.prefix(8))")
    }

    private func change(
        _ object: String,
        _ device: ModelDevice?,
        _ name: String,
        _ view: View
    ) async throws {
        guard let entity = entities[object],
            let attribute = Self.attributes[entity]?.randomElement(using: &chance)
        else { return }
        let value = newValue()
        trace.append("\(name): \(object).\(attribute) = \(value.prefix(8))")
        if let before = view.objects[object]?[attribute], before != "calm" {
            replaced["\(object).\(attribute)", default: []].insert(before)
        }
        if let device {
            try await device.run(
                "UPDATE \(entity) SET \(attribute) = ? WHERE recordName = ?",
                [value, object]
            )
        } else {
            await phone.set(attribute, .text(value), of: object)
        }
    }

    // MARK: Sharing

    private func share() async throws {
        try await phone.sync()
        let own = await phone.objects.keys.filter { Self.attributes[entities[$0] ?? ""] != nil }
        let zones = await phone.zones
        let object = own.filter { zones[$0] == nil }.sorted().randomElement(using: &chance)
        guard let object else { return }
        let order = chance.chance(50) ? devices.randomElement(using: &chance) : nil
        trace.append("phone shares \(object), \(order == nil ? "" : "and a device syncs within")")
        try await phone.share(object) {
            // A response may be lost here as elsewhere.
            _ = try? await order?.store.sync()
        }
    }

    /// Removes links between objects of two zones on the devices that made them, and returns whether there were any.
    private func dropLinksBetweenZones() async throws -> Bool {
        let zones = await phone.zones
        var isAny = false
        for device in devices {
            let view = try await view(device)
            for pair in view.links where zones[pair.source] != zones[pair.target] {
                isAny = true
                try await unlink(pair, device, "rest")
            }
            for (object, values) in view.objects {
                guard let manager = values["manager"], zones[manager] != zones[object] else {
                    continue
                }
                isAny = true
                trace.append("rest: \(object).manager = nil")
                try await device.run(
                    "UPDATE Person SET manager = NULL WHERE recordName = ?",
                    [object]
                )
            }
        }
        return isAny
    }

    // MARK: Links

    private static func table(
        _ relationship: String
    ) -> (name: String, source: String, target: String) {
        // A column is named after the relationship that leads to its row.
        relationship == "tags"
            ? ("Post_tags", "posts", "tags") : ("Person_followedBy", "followedBy", "follows")
    }

    private func link(_ device: ModelDevice?, _ name: String, _ here: [String]) async throws {
        if device == nil, shares { try await phone.sync() }
        let relationship = chance.chance(70) ? "tags" : "follows"
        let sources = here.filter { entities[$0] == (relationship == "tags" ? "Post" : "Person") }
        let targets = here.filter { entities[$0] == (relationship == "tags" ? "Tag" : "Person") }
        guard let source = sources.randomElement(using: &chance),
            let target = targets.randomElement(using: &chance), source != target
        else { return }
        if device == nil, await !phone.mayConnect(source, target) { return }
        trace.append("\(name): \(source).\(relationship) has \(target)")
        linked.insert(Pair(relationship: relationship, source: source, target: target))
        guard let device else { return await phone.link(relationship, source, target) }
        number += 1
        let table = Self.table(relationship)
        try await device.run(
            """
            INSERT INTO \(table.name) (recordName, \(table.source), \(table.target)) SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM \(table.name)
                WHERE \(table.source) = ?2 AND \(table.target) = ?3)
            """,
            ["\(name)-\(number)", source, target]
        )
    }

    private func unlink(_ pair: Pair, _ device: ModelDevice?, _ name: String) async throws {
        trace.append("\(name): \(pair.source).\(pair.relationship) loses \(pair.target)")
        unlinked.insert(pair)
        guard let device else {
            return await phone.unlink(pair.relationship, pair.source, pair.target)
        }
        let table = Self.table(pair.relationship)
        try await device.run(
            "DELETE FROM \(table.name) WHERE \(table.source) = ? AND \(table.target) = ?",
            [pair.source, pair.target]
        )
    }

    // MARK: Views

    private func view(_ device: ModelDevice?) async throws -> View {
        guard let device else { return await Self.view(phone) }
        return try await device.database.read { database in
            var view = View()
            for (entity, attributes) in Self.attributes {
                for row in try Row.fetchAll(database, sql: "SELECT * FROM \(entity)") {
                    var values: [String: String] = [:]
                    for attribute in attributes { values[attribute] = row[attribute] }
                    if entity == "Person" { values["manager"] = row["manager"] }
                    view.objects[row["recordName"]] = values
                }
            }
            for relationship in ["tags", "follows"] {
                let table = Self.table(relationship)
                let sql = "SELECT \(table.source), \(table.target) FROM \(table.name)"
                for row in try Row.fetchAll(database, sql: sql) {
                    view.links.insert(
                        Pair(relationship: relationship, source: row[0], target: row[1])
                    )
                }
            }
            return view
        }
    }

    private static func view(_ phone: PhoneApp) async -> View {
        var view = View()
        let objects = await phone.objects
        for (name, object) in objects {
            var values: [String: String] = [:]
            for attribute in attributes[object.entity] ?? [] {
                if case .text(let text)? = object.values[attribute] { values[attribute] = text }
            }
            if let manager = object.links["manager"], objects[manager] != nil {
                values["manager"] = manager
            }
            view.objects[name] = values
        }
        for link in await phone.links.values
        where objects[link.source] != nil && objects[link.target] != nil {
            view.links.insert(
                Pair(relationship: link.relationship, source: link.source, target: link.target)
            )
        }
        return view
    }

    // MARK: The oracle

    private func problems() async throws -> [String] {
        var problems: [String] = []
        let expected = await Self.view(phone)
        let newPhone = PhoneApp(try await cloud.device(of: user), prefix: "N")
        try await newPhone.fetch()
        var others = [("a new phone", await Self.view(newPhone))]
        for (place, device) in devices.enumerated() {
            others.append(("d\(place + 1)", try await view(device)))
            let status = try await device.store.status
            if !status.isSettled { problems.append("d\(place + 1): \(status.explanation)") }
            let differences = try await device.store.verify().differences
            if !differences.isEmpty { problems.append("d\(place + 1): \(differences)") }
        }
        for (name, view) in others { problems += differences(expected, view, name) }
        for (object, _) in entities where !deleted.contains(object) {
            guard let values = expected.objects[object] else {
                problems.append("nobody deleted \(object), and it is gone")
                continue
            }
            for (attribute, value) in values
            where replaced["\(object).\(attribute)"]?.contains(value) == true {
                problems.append("\(object).\(attribute) is \(value.prefix(8)) again")
            }
        }
        for pair in expected.links where !linked.contains(pair) {
            problems.append("nobody made \(pair)")
        }
        for pair in linked.subtracting(unlinked)
        where isCertain(pair) && !expected.links.contains(pair) {
            problems.append("nobody removed \(pair), and it is gone")
        }
        return problems
    }

    /// Returns whether nobody deleted an end of a link; no rule says which links an object has that comes back.
    private func isCertain(_ pair: Pair) -> Bool {
        !deleted.contains(pair.source) && !deleted.contains(pair.target)
    }

    private func differences(_ one: View, _ other: View, _ name: String) -> [String] {
        var found: [String] = []
        for object in Set(one.objects.keys).union(other.objects.keys).sorted() {
            var (left, right) = (one.objects[object], other.objects[object])
            for target in [left?["manager"], right?["manager"]] {
                guard let target, deleted.contains(target) else { continue }
                left?["manager"] = nil
                right?["manager"] = nil
            }
            if left != right {
                found.append(
                    "\(object): the phone has \(Self.short(left)), \(name) \(Self.short(right))"
                )
            }
        }
        for pair in one.links.symmetricDifference(other.links).sorted() where isCertain(pair) {
            found.append("\(pair): \(one.links.contains(pair) ? "the phone" : name) alone has it")
        }
        return found
    }

    private static func short(_ values: [String: String]?) -> String {
        guard let values else { return "none" }
        return values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.prefix(8))" }
            .joined(separator: " ")
    }
}
