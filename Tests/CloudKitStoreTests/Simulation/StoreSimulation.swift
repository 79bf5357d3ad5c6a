import CloudKitStore
import Foundation
import GRDB
import CloudKitTesting
import Support

/// Devices with wrong clocks that edit, sync, lose requests and crash as a seed says; at the end all
/// must hold the same, and every edit must be somewhere.
struct StoreSimulation {
    /// An edit of a title: the value, which no other edit has, and whether somebody who saw it wrote
    /// over it.
    private struct Edit {
        var note: String
        var value: String
        var isSuperseded = false
    }

    let seed: UInt64
    var stepCount = 30
    var defect: StoreDefect?

    private var chance: SeededChance
    private var story: [String] = []
    private var edits: [Edit] = []
    /// The sum of the steps of each note's counter.
    private var counters: [String: Int] = [:]
    /// Notes that somebody deleted, whose fate the rules decide.
    private var deleted: Set<String> = []
    private var number = 0

    init(seed: UInt64, defect: StoreDefect? = nil) {
        self.seed = seed
        self.defect = defect
        chance = SeededChance(seed: seed)
    }

    /// Runs the schedule.
    ///
    /// - Returns: What is wrong at the end, and the story that led there; nothing when all is well.
    mutating func run() async throws -> [String] {
        var problems: [String] = []
        let cloud = try await TestCloud()
        let user = try await cloud.addUser("Ada")
        var devices: [SimulatedDevice] = []
        for place in 0..<Int.random(in: 2...4, using: &chance) {
            let device = try await SimulatedDevice("d\(place)", cloud, user, defect: defect)
            // Clocks are wrong by up to a day, and stand still between the steps.
            let wall =
                1_700_000_000_000 + Int64.random(in: -86_400_000...86_400_000, using: &chance)
            try await device.database.write {
                try $0.execute(sql: "UPDATE cloudkit_control SET wall = ?", arguments: [wall])
            }
            devices.append(device)
        }
        for _ in 0..<stepCount {
            guard let device = devices.randomElement(using: &chance) else { break }
            if chance.chance(8) {
                try await race(device, among: devices)
            } else {
                try await step(device)
            }
        }
        for _ in 0..<4 {
            for device in devices { try await device.syncWithoutFaults() }
        }
        problems += try await check(devices)
        for device in devices { await device.store.stop() }
        return problems.isEmpty ? [] : story + problems
    }

    // MARK: Steps

    private mutating func step(_ device: SimulatedDevice) async throws {
        try await device.database.write {
            try $0.execute(sql: "UPDATE cloudkit_control SET wall = wall + 1000")
        }
        switch Int.random(in: 0..<100, using: &chance) {
        case 0..<15: try await insert(device)
        case 15..<35: try await retitle(device)
        case 35..<50: try await count(device)
        case 50..<56: try await delete(device)
        case 56..<64: try await move(device)
        case 64..<92:
            let faults = (0..<Int.random(in: 0...6, using: &chance)).map { _ -> Bool? in
                chance.chance(60) ? nil : chance.chance(50)
            }
            story.append("\(device.name) syncs with faults \(faults)")
            await device.sync(faults)
        default:
            let requests = Int.random(in: 0...8, using: &chance)
            story.append("\(device.name) crashes after \(requests) requests")
            try await device.crash(after: requests)
        }
    }

    /// Another device edits and syncs while a device's save is under way.
    private mutating func race(
        _ device: SimulatedDevice,
        among devices: [SimulatedDevice]
    ) async throws {
        try await retitle(device)
        guard let other = devices.filter({ $0.name != device.name }).randomElement(using: &chance)
        else { return }
        try await retitle(other)
        try await count(other)
        story.append("\(device.name) syncs, and before its save arrives \(other.name) does")
        let store = other.store
        await device.sync { _ = try? await store.sync() }
    }

    private mutating func write(_ device: SimulatedDevice, _ sql: String) async throws {
        story.append("\(device.name): \(sql)")
        try await device.database.write { try $0.execute(sql: sql) }
    }

    private mutating func note(
        _ device: SimulatedDevice
    ) async throws -> (id: String, title: String)? {
        let notes = try await device.database.read { database in
            try Row.fetchAll(database, sql: "SELECT id, title FROM note ORDER BY id")
                .map { (id: $0["id"] as String, title: $0["title"] as String) }
        }
        return notes.randomElement(using: &chance)
    }

    private mutating func newTitle(_ note: String, over old: String?) -> String {
        number += 1
        let value = "t\(number)"
        supersede(note, old)
        edits.append(Edit(note: note, value: value))
        return value
    }

    private mutating func supersede(_ note: String, _ value: String?) {
        for place in edits.indices where edits[place].note == note && edits[place].value == value {
            edits[place].isSuperseded = true
        }
    }

    private mutating func insert(_ device: SimulatedDevice) async throws {
        number += 1
        let id = "\(device.name)n\(number)"
        if chance.chance(40) {
            let folder = "\(device.name)f\(number)"
            try await write(device, "INSERT INTO folder (id, name) VALUES ('\(folder)', 'F')")
            let title = newTitle(id, over: nil)
            try await write(
                device,
                "INSERT INTO note (id, title, folder) VALUES ('\(id)', '\(title)', '\(folder)')"
            )
        } else {
            let title = newTitle(id, over: nil)
            try await write(device, "INSERT INTO note (id, title) VALUES ('\(id)', '\(title)')")
        }
        counters[id] = 0
    }

    private mutating func retitle(_ device: SimulatedDevice) async throws {
        guard let note = try await note(device) else { return }
        let title = newTitle(note.id, over: note.title)
        try await write(device, "UPDATE note SET title = '\(title)' WHERE id = '\(note.id)'")
    }

    private mutating func count(_ device: SimulatedDevice) async throws {
        guard let note = try await note(device) else { return }
        let amount = Int.random(in: 1...9, using: &chance)
        counters[note.id, default: 0] += amount
        try await write(device, "UPDATE note SET count = count + \(amount) WHERE id = '\(note.id)'")
    }

    private mutating func delete(_ device: SimulatedDevice) async throws {
        if chance.chance(30) {
            try await write(
                device,
                "DELETE FROM folder WHERE id = (SELECT min(id) FROM folder)"
            )
            return
        }
        guard let note = try await note(device) else { return }
        supersede(note.id, note.title)
        deleted.insert(note.id)
        try await write(device, "DELETE FROM note WHERE id = '\(note.id)'")
    }

    private mutating func move(_ device: SimulatedDevice) async throws {
        guard let note = try await note(device) else { return }
        try await write(
            device,
            "UPDATE note SET folder = (SELECT max(id) FROM folder) WHERE id = '\(note.id)'"
        )
    }

    // MARK: At rest

    private func check(_ devices: [SimulatedDevice]) async throws -> [String] {
        var problems: [String] = []
        var rows: [[String]] = []
        var lost: Set<StoreValue> = []
        for device in devices {
            rows.append(try await Self.rows(device.database))
            for entry in try await device.store.journal() {
                if let title = entry.lost["title"] { lost.insert(title) }
            }
            let status = try await device.store.status
            if !status.isSettled {
                problems.append("I14: \(device.name) is not settled: \(status)")
            }
            let broken = try await device.database.read {
                try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count
            }
            if broken != 0 { problems.append("I7: \(device.name) has broken references") }
            let differences = try await device.store.verify().differences
            if !differences.isEmpty {
                problems.append("I1: \(device.name) and the server differ: \(differences)")
            }
        }
        for (place, found) in rows.enumerated() where found != rows[0] {
            problems.append("I1: d0 has \(rows[0]), d\(place) has \(found)")
        }
        problems += try await checkEdits(devices[0].database, lost)
        return problems
    }

    private func checkEdits(
        _ database: DatabaseQueue,
        _ lost: Set<StoreValue>
    ) async throws -> [String] {
        var problems: [String] = []
        let notes = try await database.read { database in
            try Row.fetchAll(database, sql: "SELECT id, title, count FROM note")
                .map {
                    (
                        id: $0["id"] as String, title: $0["title"] as String,
                        count: $0["count"] as Int
                    )
                }
        }
        let titles = Set(notes.map(\.title))
        for edit in edits where !edit.isSuperseded && !titles.contains(edit.value) {
            if !lost.contains(.text(edit.value)) {
                problems.append("I2: the edit \(edit.value) of \(edit.note) is nowhere")
            }
        }
        for note in notes {
            if !edits.contains(where: { $0.note == note.id && $0.value == note.title }) {
                problems.append("I4: nobody wrote the title \(note.title) of \(note.id)")
            }
            if !deleted.contains(note.id), counters[note.id] != note.count {
                problems.append(
                    "I2: \(note.id) counts \(note.count) instead of \(counters[note.id] ?? 0)"
                )
            }
        }
        let present = Set(notes.map(\.id))
        for id in counters.keys.sorted() where !deleted.contains(id) && !present.contains(id) {
            problems.append("I5: nobody deleted \(id), and it is gone")
        }
        return problems
    }

    private static func rows(_ database: DatabaseQueue) async throws -> [String] {
        try await database.read { database in
            try ["folder", "note"].flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY id")
                    .map { "\(table) \($0)" }
            }
        }
    }
}
