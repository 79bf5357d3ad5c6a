import CloudKitStore

/// What users did, told from what their devices showed before and after each of their writes.
struct SimulationModel {
    /// A value that somebody wrote into a field.
    private struct Edit {
        var value: StoreValue
        var device: String
        /// How many saves the device had sent.
        var saves: Int
        /// The value that the device had, before all that it has not sent.
        var origin: StoreValue
        /// Its place among all edits.
        var number: Int
        /// The edit of somebody who saw it and wrote over it.
        var successor: Int?

        var isSuperseded: Bool { successor != nil }

        /// Whether a clearing could not be told from a field that never had a value.
        ///
        /// Values tell edits apart, no value does not: who began without one, and set one, finds none
        /// on the server, and nothing that it stands against.
        func hides(_ clearing: Edit, when value: StoreValue?) -> Bool {
            clearing.value.isNull && origin.isNull && device != clearing.device
                && (self.value == value || successor ?? 0 > clearing.number)
        }
    }

    /// Fields in which every edit is a value of its own.
    private static let distinct = SimulatedValue.columns.union([
        "name", "title", "body", "low", "high", "server", "client", "custom", "photo", "extra",
        "text", "colour",
    ])

    /// The edits by row and field.
    private var edits: [String: [String: [Edit]]] = [:]
    /// Each row's sum of the steps of its counter.
    private var counts: [String: Int64] = [:]
    /// Each row's tags, and whether somebody took them out.
    private var tags: [String: [StoreValue: Bool]] = [:]
    /// Rows that somebody deleted, whose fate the rules decide.
    private var deleted: Set<String> = []
    /// Deleted rows of which nobody knew more than whoever deleted them.
    private var doomed: Set<String> = []
    /// The rows with which a row goes.
    private var parents: [String: Set<String>] = [:]
    /// Rows that others refer to without going with them.
    private var referred: Set<String> = []
    /// Rows that refer to others, which the others' deletion changes.
    private var referring: Set<String> = []
    private var rows: Set<String> = []
    private var labels = LabelModel()
    /// Rows that another's UNIQUE values took the place of, and those that their user may not write.
    private var displaced: Set<String> = []
    private var barred: Set<String> = []
    private var zoneWasLost = false
    private var editCount = 0
    /// Whether sums are checked although the zone was lost.
    var checksSums = false

    // MARK: What users do

    /// Takes in a write of a device, which has sent a number of saves.
    mutating func note(
        _ before: SimulatedApp.Contents,
        _ after: SimulatedApp.Contents,
        by device: String,
        saves: Int
    ) {
        labels.note(before, after, by: device)
        for (row, fields) in after {
            learnReferences(row, fields)
            let old = before[row]
            for (field, value) in fields where old?[field] ?? .null != value {
                doomed.remove(row)
                write(row, field, old?[field], value, device, saves)
            }
            if old == nil { doomed.remove(row) }
            rows.insert(row)
        }
        for (row, fields) in before where after[row] == nil {
            for (field, value) in fields { supersede(row, field, value) }
            deleted.insert(row)
            if isFullySeen(row), sums(row, fields).isEmpty { doomed.insert(row) }
        }
    }

    /// The zone is gone: what was deleted before may come back from those who had not heard of it.
    mutating func loseZone() { zoneWasLost = true }

    private mutating func write(
        _ row: String,
        _ field: String,
        _ old: StoreValue?,
        _ value: StoreValue,
        _ device: String,
        _ saves: Int
    ) {
        if field == "count" {
            counts[row, default: 0] += Self.number(value) - Self.number(old)
        } else if field == "tags" {
            let (before, after) = (Set(Self.elements(old)), Set(Self.elements(value)))
            for tag in after.subtracting(before) { tags[row, default: [:]][tag] = false }
            for tag in before.subtracting(after) { tags[row, default: [:]][tag] = true }
        } else if Self.distinct.contains(field) {
            editCount += 1
            let unsent = edits[row]?[field]?.last {
                $0.value == old && $0.device == device && $0.saves == saves
            }
            if let old { supersede(row, field, old) }
            let origin = unsent?.origin ?? old ?? .null
            // Cleared again before anybody could hear of its value, a field was not edited.
            let isReturn = value.isNull && origin.isNull
            // A value that is written again is an edit again.
            let edit = Edit(
                value: value,
                device: device,
                saves: saves,
                origin: origin,
                number: editCount,
                successor: isReturn ? editCount : nil
            )
            edits[row, default: [:]][field, default: []].append(edit)
        }
    }

    private mutating func supersede(_ row: String, _ field: String, _ value: StoreValue) {
        guard let known = edits[row]?[field] else { return }
        edits[row]?[field] = known.map { edit in
            var edit = edit
            if edit.value == value, edit.successor == nil { edit.successor = editCount }
            return edit
        }
    }

    private func isFullySeen(_ row: String) -> Bool {
        edits[row]?.values.allSatisfy { $0.allSatisfy(\.isSuperseded) } ?? true
    }

    private mutating func learnReferences(_ row: String, _ fields: [String: StoreValue]) {
        let table = row.prefix { $0 != "/" }
        for (field, value) in fields {
            guard let target = SimulatedApp.references["\(table).\(field)"],
                case .text(let key) = value
            else { continue }
            let parent = "\(target.table)/\(key)"
            if target.cascades {
                parents[row, default: []].insert(parent)
            } else {
                referred.insert(parent)
            }
            referring.insert(row)
        }
    }

    private static func number(_ value: StoreValue?) -> Int64 {
        if case .integer(let number)? = value { number } else { 0 }
    }

    /// The elements of a JSON list of plain words.
    private static func elements(_ value: StoreValue?) -> [StoreValue] {
        guard case .text(let text)? = value else { return [] }
        return text.split { "[],\" ".contains($0) }.map { .text(String($0)) }
    }

    // MARK: What must hold at rest

    /// What is wrong with rows at rest, given what is in journals, by row and field.
    ///
    /// Takes also the rules by which rows lost, as journals name them.
    mutating func problems(
        _ contents: SimulatedApp.Contents,
        journal: [String: [String: Set<StoreValue>]],
        rules: [String: Set<String>] = [:]
    ) -> [String] {
        displaced = Set(rules.filter { $0.value.contains("unique") }.keys)
        barred = Set(rules.filter { $0.value.contains("access") }.keys)
        var problems = labels.problems(contents, displaced: displaced)
        for row in rows.sorted() {
            let fields = contents[row]
            let isFree = isFateOpen(row) || displaced.contains(row)
            if fields == nil, !isFree {
                problems.append("I5: nobody deleted \(row), and it is gone")
            }
            if fields != nil, doomed.contains(row), !zoneWasLost, !isEntangled(row),
                !barred.contains(row), !labels.equals(row).contains(where: displaced.contains)
            {
                problems.append("I5: \(row) was deleted, nobody edited it, and it is there")
            }
            for (field, edits) in (edits[row] ?? [:]).sorted(by: { $0.key < $1.key }) {
                problems += self.problems(
                    row,
                    field,
                    edits,
                    value: fields?[field],
                    journal: journal[row]?[field] ?? [],
                    isFree: isFree
                )
            }
            // Devices that were out of step when their zone went have no version in common.
            if let fields, !isFree, !zoneWasLost || checksSums { problems += sums(row, fields) }
        }
        return problems
    }

    private func problems(
        _ row: String,
        _ field: String,
        _ edits: [Edit],
        value: StoreValue?,
        journal: Set<StoreValue>,
        isFree: Bool
    ) -> [String] {
        var problems: [String] = []
        let devices = Set(edits.map(\.device))
        for edit in edits where !edit.isSuperseded && edit.value != value {
            // No value is nothing to keep of a row that is gone.
            if value == nil || zoneWasLost, edit.value.isNull { continue }
            if edits.contains(where: { $0.hides(edit, when: value) }) { continue }
            if !journal.contains(edit.value) {
                problems.append("I2: \(edit.device)'s \(field) \(edit.value) of \(row) is nowhere")
            } else if !isFree, devices.count == 1 {
                problems.append("I3: \(edit.value) lost in \(row), and nobody else set \(field)")
            }
        }
        if let value, !value.isNull, !edits.contains(where: { $0.value == value }) {
            problems.append("I4: nobody wrote the \(field) \(value) of \(row)")
        }
        return problems
    }

    private func sums(_ row: String, _ fields: [String: StoreValue]) -> [String] {
        var problems: [String] = []
        if let count = fields["count"], Self.number(count) != counts[row] ?? 0 {
            problems.append("I9: \(row) counts \(count) instead of \(counts[row] ?? 0)")
        }
        let tags = (tags[row] ?? [:]).filter { !$0.value }.keys
        if let found = fields["tags"], Set(Self.elements(found)) != Set(tags) {
            problems.append("I2: \(row) has the tags \(found) instead of \(tags.count)")
        }
        return problems
    }

    /// Whether somebody deleted a row, or one with which it goes.
    private func isFateOpen(_ row: String) -> Bool {
        var seen: Set<String> = []
        var next = [row]
        while let row = next.popLast() {
            guard seen.insert(row).inserted else { continue }
            if deleted.contains(row) || barred.contains(row) { return true }
            next += parents[row] ?? []
            // What referred to a row that gave way goes with the one that it refers to since.
            if displaced.contains(row) { next += labels.equals(row) }
        }
        return false
    }

    /// Whether other rows have a say in whether a deleted row stays.
    private func isEntangled(_ row: String) -> Bool {
        referred.contains(row) || referring.contains(row)
            || parents.values.contains { $0.contains(row) }
    }
}
