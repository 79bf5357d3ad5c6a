import CloudKitStore

/// The users' edits, derived from the devices' rows before and after each write.
struct SimulationModel {
    /// An edit of a field.
    private struct Edit {
        var value: StoreValue
        var device: String
        /// The number of saves that the device had sent.
        var saves: Int
        /// The device's value before all of its unsent edits.
        var origin: StoreValue
        /// Its position among all edits.
        var number: Int
        /// The edit of a user who saw it and overwrote it.
        var successor: Int?

        var isSuperseded: Bool { successor != nil }

        /// Returns whether a clearing could not be distinguished from a field that never had a value.
        ///
        /// Values identify edits, but no value does not: a user who started without a value, and
        /// set one, finds none on the server, and no conflict.
        func hides(_ clearing: Edit, when value: StoreValue?) -> Bool {
            clearing.value.isNull && origin.isNull && device != clearing.device
                && (self.value == value || successor ?? 0 > clearing.number)
        }
    }

    /// The fields in which every edit has a unique value.
    private static let distinct = SimulatedValue.columns.union([
        "name", "title", "body", "low", "high", "server", "client", "custom", "photo", "extra",
        "text", "colour",
    ])

    /// The edits by row and field.
    private var edits: [String: [String: [Edit]]] = [:]
    /// The sum of the steps of each row's counter.
    private var counts: [String: Int64] = [:]
    /// The tags of each row, and whether a user removed them.
    private var tags: [String: [StoreValue: Bool]] = [:]
    /// The deleted rows, whose fate the rules decide.
    private var deleted: Set<String> = []
    /// The deleted rows without an edit that the deleting user did not know.
    private var doomed: Set<String> = []
    /// The rows that a row is deleted with.
    private var parents: [String: Set<String>] = [:]
    /// The rows that others refer to without being deleted with them.
    private var referred: Set<String> = []
    /// The rows that refer to others, whose deletion changes them.
    private var referring: Set<String> = []
    private var rows: Set<String> = []
    private var labels = LabelModel()
    /// The rows that were replaced because of UNIQUE values, and those that their user may not write.
    private var displaced: Set<String> = []
    private var barred: Set<String> = []
    private var zoneWasLost = false
    private var editCount = 0
    /// `true` when sums are checked even though the zone was lost.
    var checksSums = false

    // MARK: What users do

    /// Adds a write of a device, which has sent a number of saves.
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

    /// Marks the zone as lost: earlier deletions may be undone by devices that had not received them.
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
            // A field that was cleared again before its value was sent was not edited.
            let isReturn = value.isNull && origin.isNull
            // A value that is written again is a new edit.
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

    /// Returns the elements of a JSON list of plain words.
    private static func elements(_ value: StoreValue?) -> [StoreValue] {
        guard case .text(let text)? = value else { return [] }
        return text.split { "[],\" ".contains($0) }.map { .text(String($0)) }
    }

    // MARK: What must hold at rest

    /// Returns the problems of rows at rest, given the contents of journals, by row and field.
    ///
    /// The parameters include the rules by which rows lost, as in the journals.
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
            // Devices that were out of step when their zone was lost have no common version.
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
            // Null leaves nothing to keep of a deleted row.
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

    /// Returns whether a row was deleted, or one that it is deleted with.
    private func isFateOpen(_ row: String) -> Bool {
        var seen: Set<String> = []
        var next = [row]
        while let row = next.popLast() {
            guard seen.insert(row).inserted else { continue }
            if deleted.contains(row) || barred.contains(row) { return true }
            next += parents[row] ?? []
            // A reference to a row that lost now points to the winner, and is deleted with it.
            if displaced.contains(row) { next += labels.equals(row) }
        }
        return false
    }

    /// Returns whether other rows affect whether a deleted row stays.
    private func isEntangled(_ row: String) -> Bool {
        referred.contains(row) || referring.contains(row)
            || parents.values.contains { $0.contains(row) }
    }
}
