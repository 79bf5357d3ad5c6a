import CloudKitStore

/// A model of the users' changes to rows with UNIQUE names, and to columns that refer to them.
struct LabelModel {
    private struct Label {
        var name: StoreValue
        /// The rows with its name that its creator had seen before.
        var seen: Set<String>
        var made: Int
        /// The time of the last deletion.
        var deleted: Int?
    }

    private var labels: [String: Label] = [:]
    /// The labels that each device has shown.
    private var shown: [String: Set<String>] = [:]
    /// The names of the labels to which a row's column was set.
    private var targets: [String: [String: Set<StoreValue>]] = [:]
    private var time = 0

    private static let table = "label/"
    private static let columns = ["label", "second"]

    /// Adds a device's write.
    mutating func note(
        _ before: SimulatedApp.Contents,
        _ after: SimulatedApp.Contents,
        by device: String
    ) {
        time += 1
        for row in before.keys where row.hasPrefix(Self.table) {
            shown[device, default: []].insert(row)
            if after[row] == nil { labels[row]?.deleted = time }
        }
        for (row, fields) in after {
            if row.hasPrefix(Self.table), before[row] == nil, let name = fields["name"] {
                let rivals = shown[device, default: []].filter { labels[$0]?.name == name }
                let deleted = labels[row]?.deleted
                labels[row] = Label(name: name, seen: rivals, made: time, deleted: deleted)
                shown[device, default: []].insert(row)
            }
        }
        for (row, fields) in after {
            for column in Self.columns where fields[column] != before[row]?[column] {
                guard let name = name(of: fields[column]) else { continue }
                targets[row, default: [:]][column, default: []].insert(name)
            }
        }
    }

    private func name(of reference: StoreValue?) -> StoreValue? {
        guard case .text(let key)? = reference else { return nil }
        return labels[Self.table + key]?.name
    }

    /// Returns the other labels with a label's name.
    func equals(_ row: String) -> [String] {
        guard let name = labels[row]?.name else { return [] }
        return labels.filter { $0.value.name == name && $0.key != row }.map(\.key)
    }

    /// Returns the problems of labels at rest, and of references to them.
    func problems(_ contents: SimulatedApp.Contents, displaced: Set<String>) -> [String] {
        var problems: [String] = []
        let live = Dictionary(grouping: labels.filter { contents[$0.key] != nil }) { $0.value.name }
        for (name, rows) in live where rows.count > 1 {
            problems.append("I22: \(rows.map(\.key).sorted()) have the name \(name)")
        }
        for row in displaced.sorted() {
            guard contents[row] == nil, let label = labels[row], live[label.name] == nil,
                !isGone(label, row)
            else { continue }
            problems.append("I22: \(row) gave way to no row")
        }
        for (row, columns) in targets.sorted(by: { $0.key < $1.key }) {
            guard let fields = contents[row] else { continue }
            for (column, names) in columns.sorted(by: { $0.key < $1.key }) {
                if let name = name(of: fields[column]) {
                    guard !names.contains(name) else { continue }
                    problems.append("I22: the \(column) of \(row) has the name \(name)")
                } else if !labels.values.contains(where: {
                    $0.deleted != nil && names.contains($0.name)
                }) {
                    problems.append("I22: nobody cleared the \(column) of \(row)")
                }
            }
        }
        return problems
    }

    /// Returns whether the row that a label lost to may be deleted, because a row with its name was
    /// deleted later, or unknown to the label's creator.
    private func isGone(_ label: Label, _ row: String) -> Bool {
        labels.contains { other, rival in
            guard other != row, rival.name == label.name, let deleted = rival.deleted else {
                return false
            }
            return deleted > label.made || !label.seen.contains(other)
        }
    }
}
