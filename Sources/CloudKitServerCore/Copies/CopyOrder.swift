import CloudKitWire

/// Orders records after those that must exist before them: parents and validated targets.
///
/// Records that depend on each other in a circle keep their order.
struct CopyOrder {
    private var names: [String] = []
    private var needs: [String: [String]] = [:]

    var count: Int { names.count }

    mutating func add(_ record: StoredRecord) throws {
        names.append(record.name)
        let references = References(
            fields: try RecordFields(stored: record.fields),
            parent: record.parent
        )
        let needed = references.items.filter { $0.kind != .deleteSelf }.map(\.target)
        if !needed.isEmpty { needs[record.name] = needed }
    }

    /// All names, in order.
    var sorted: [String] {
        let known = Set(names)
        var sorted: [String] = []
        var seen: Set<String> = []
        for name in names {
            // A stack, because hierarchies may be deeper than recursion allows.
            var path: [(name: String, rest: ArraySlice<String>)] = []
            func enter(_ name: String) {
                guard known.contains(name), seen.insert(name).inserted else { return }
                path.append((name, (needs[name] ?? [])[...]))
            }
            enter(name)
            while let last = path.indices.last {
                if let next = path[last].rest.popFirst() {
                    enter(next)
                } else {
                    sorted.append(path.removeLast().name)
                }
            }
        }
        return sorted
    }
}
