import CloudKitStore
import GRDB
import Support

extension StoreSimulation {
    /// Carries out an edit on a device; an edit without a row to change, or one that the schema
    /// refuses, writes nothing.
    func write(
        _ edit: SimulationStep.Edit,
        _ device: SimulatedDevice,
        _ world: SimulatedWorld,
        _ chance: inout SeededRandom
    ) {
        do {
            let before = try device.contents()
            let statements = self.statements(edit, before, device, &chance)
            guard !statements.isEmpty else { return }
            for line in statements { world.trace.add("  \(device.name): \(line)") }
            let barred = try device.barredRows()
            let shown = try device.shown()
            do {
                try device.database.write { database in
                    for line in statements { try database.execute(sql: line) }
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                world.trace.add("  \(device.name): refused")
                return
            }
            let after = try device.contents()
            for row in barred where before[row] != after[row] {
                problems.append("I19: \(device.name) changed \(row), which is read-only")
            }
            model.note(before, after, by: device.name, saves: device.saves)
            try note(shown, on: device, in: world)
        } catch {
            problems.append("E: \(device.name) cannot write: \(error)")
        }
    }

    private func statements(
        _ edit: SimulationStep.Edit,
        _ contents: SimulatedApp.Contents,
        _ device: SimulatedDevice,
        _ chance: inout SeededRandom
    ) -> [String] {
        number += 1
        var writer = SimulationWriter(contents: contents, device: device.name, number: number)
        return writer.statements(edit, isNew: device.isNew, &chance)
    }
}

/// A writer that creates an edit's SQL from a device's rows.
struct SimulationWriter {
    let contents: SimulatedApp.Contents
    let device: String
    let number: Int

    mutating func statements(
        _ edit: SimulationStep.Edit,
        isNew: Bool,
        _ chance: inout SeededRandom
    ) -> [String] {
        let value = "v\(number)"
        switch edit {
        case .insertNote: return insertNote(&chance)
        case .insertFolder:
            let parent = reference("folder", chance.chance(40), &chance)
            return [
                "INSERT INTO folder (id, name, parent) VALUES ('f\(number)', '\(value)', \(parent))"
            ]
        case .insertMark:
            return with("note", &chance) { id, chance in
                [
                    "INSERT INTO mark (note, place, text) VALUES "
                        + "('\(id)', \(chance.number(0...2)), '\(value)')"
                ]
            }
        case .insertItem:
            let id = String(repeating: "0", count: 32 - "\(number)".count) + "\(number)"
            let folder = reference("folder", chance.chance(60), &chance)
            return [
                "INSERT INTO item (id, name, folder) VALUES (x'\(id)', '\(value)', \(folder))"
            ]
        case .insertTask:
            guard isNew else { return [] }
            let note = reference("note", chance.chance(70), &chance)
            return ["INSERT INTO task (id, name, note) VALUES ('k\(number)', '\(value)', \(note))"]
        case .title: return set("note", "title", "'\(value)', day = \(odd)", &chance)
        case .body: return set("note", "body", "'\(value)', amount = \(odd)", &chance)
        case .custom: return set("note", "custom", "'\(value)', data = \(odd)", &chance)
        case .server, .client:
            return set("note", edit.rawValue, "'\(value)', mood = \(mood)", &chance)
        case .extra: return isNew ? set("note", "extra", "'\(value)'", &chance) : []
        case .clearBody: return set("note", "body", "NULL", &chance)
        case .clearPhoto: return set("note", "photo", "NULL", &chance)
        case .clearFolder: return set("note", "folder", "NULL", &chance)
        case .photo:
            return set("note", "photo", "CAST('photo \(value)' AS BLOB), flag = \(odd)", &chance)
        case .low, .high:
            let sign = chance.chance(50) ? "" : "-"
            return set("note", edit.rawValue, "\(sign)\(number), rank = \(odd)", &chance)
        case .count:
            return set("note", "count", "count + \(chance.number(1...9)), price = \(odd)", &chance)
        case .addTag: return changeTags(&chance) { $0 + [value] }
        case .removeTag: return changeTags(&chance) { Array($0.dropFirst()) }
        case .move:
            let folder = reference("folder", true, &chance)
            return set("note", "folder", "\(folder), secret = \(odd)", &chance)
        case .carry:
            // Each number leads to another folder, so that devices with the same rows disagree.
            let folders = keys("folder")
            guard !folders.isEmpty else { return insertNote(&chance) }
            let folder = folders[number % folders.count]
            return set("note", "folder", "'\(folder)', secret = \(odd)", &chance)
        case .moveFolder:
            return set("folder", "parent", reference("folder", true, &chance), &chance)
        case .renameFolder: return set("folder", "name", "'\(value)'", &chance)
        case .renameItem: return set("item", "name", "'\(value)'", &chance)
        case .renameTask: return isNew ? set("task", "name", "'\(value)'", &chance) : []
        case .writeMark: return set("mark", "text", "'\(value)'", &chance)
        case .deleteNote: return delete("note", &chance)
        case .deleteFolder: return delete("folder", &chance)
        case .deleteItem: return delete("item", &chance)
        case .deleteMark: return delete("mark", &chance)
        case .remakeNote:
            return with("note", &chance) { id, _ in
                [
                    "DELETE FROM note WHERE id = '\(id)'",
                    "INSERT INTO note (id, title) VALUES ('\(id)', '\(value)')",
                ]
            }
        default: return variantStatements(edit, &chance)
        }
    }

    /// The SQL of a value of any kind that SQLite can hold.
    var odd: String { SimulatedValue.sql(number) }

    /// The SQL of a value for a column with a default, or NULL.
    private var mood: String { number.isMultiple(of: 2) ? "NULL" : "'v\(number)'" }

    private func insertNote(_ chance: inout SeededRandom) -> [String] {
        guard chance.chance(40) else {
            let folder = reference("folder", chance.chance(50), &chance)
            return [
                "INSERT INTO note (id, title, folder, day) VALUES "
                    + "('n\(number)', 'v\(number)', \(folder), \(odd))"
            ]
        }
        return [
            "INSERT INTO folder (id, name) VALUES ('f\(number)', 'w\(number)')",
            "INSERT INTO note (id, title, folder, body, mood, flag, price, rank, secret) VALUES "
                + "('n\(number)', 'v\(number)', 'f\(number)', 'b\(number)', \(mood), \(odd), \(odd), "
                + "\(odd), \(odd))",
        ]
    }

    /// Returns the keys of a table's rows.
    func keys(_ table: String) -> [String] {
        contents.keys.filter { $0.hasPrefix(table + "/") }.sorted()
            .map { String($0.dropFirst(table.count + 1)) }
    }

    private func with(
        _ table: String,
        _ chance: inout SeededRandom,
        _ body: (String, inout SeededRandom) -> [String]
    ) -> [String] {
        // If there is no row to edit, one is inserted first.
        guard let key = keys(table).randomElement(using: &chance) else {
            return keys("note").isEmpty ? insertNote(&chance) : []
        }
        return body(key, &chance)
    }

    /// Returns a row of a table as an SQL literal, or NULL.
    private func reference(
        _ table: String,
        _ isWanted: Bool,
        _ chance: inout SeededRandom
    ) -> String {
        guard isWanted, let key = keys(table).randomElement(using: &chance) else { return "NULL" }
        return "'\(key)'"
    }

    private static func condition(_ table: String, _ key: String) -> String {
        switch table {
        case "item": "id = x'\(key)'"
        case "mark": "note || '/' || place = '\(key)'"
        default: "id = '\(key)'"
        }
    }

    func set(
        _ table: String,
        _ column: String,
        _ value: String,
        _ chance: inout SeededRandom
    ) -> [String] {
        with(table, &chance) { key, _ in
            ["UPDATE \(table) SET \(column) = \(value) WHERE \(Self.condition(table, key))"]
        }
    }

    func delete(_ table: String, _ chance: inout SeededRandom) -> [String] {
        with(table, &chance) { key, _ in
            ["DELETE FROM \(table) WHERE \(Self.condition(table, key))"]
        }
    }

    private func changeTags(
        _ chance: inout SeededRandom,
        _ change: ([String]) -> [String]
    ) -> [String] {
        guard let key = keys("note").randomElement(using: &chance) else {
            return insertNote(&chance)
        }
        var tags: [String] = []
        if case .text(let text)? = contents["note/" + key]?["tags"] {
            tags = text.split { "[],\" ".contains($0) }.map(String.init)
        }
        let list = change(tags).map { "\"\($0)\"" }.joined(separator: ",")
        return ["UPDATE note SET tags = '[\(list)]' WHERE id = '\(key)'"]
    }
}
