/// Computes what users may see of a zone from a list of its records and shares alone.
struct FeedOracle {
    /// A user's participation in a share.
    struct Part {
        var hasAccepted = false
        var permission: String
    }

    struct Share {
        var root: String
        /// The participations of invited users, by name.
        var parts: [String: Part]

        func isOpen(to user: String) -> Bool {
            parts[user].map { $0.hasAccepted && $0.permission != "NONE" } ?? false
        }
    }

    /// The parent of each record.
    var parents: [String: String?] = [:]
    var shares: [String: Share] = [:]

    /// Returns the names of a record and those above it.
    func lineage(_ name: String) -> [String] {
        var names = [name]
        while let parent = parents[names[names.count - 1]] ?? nil { names.append(parent) }
        return names
    }

    func visible(to user: String) -> Set<String> {
        let open = shares.filter { $0.value.isOpen(to: user) }
        let roots = Set(open.values.map(\.root))
        let records = parents.keys.filter { !roots.isDisjoint(with: lineage($0)) }
        return Set(records).union(open.keys)
    }

    private var roots: Set<String> { Set(shares.values.map(\.root)) }

    private func holdsRoot(_ name: String) -> Bool {
        roots.contains { lineage($0).contains(name) }
    }

    private func liesInShare(_ name: String) -> Bool { !roots.isDisjoint(with: lineage(name)) }

    /// Returns whether a record is neither in a share nor above one.
    func mayShare(_ root: String) -> Bool { !liesInShare(root) && !holdsRoot(root) }

    /// Returns whether a move puts no shared tree into another one.
    func mayMove(_ name: String, below parent: String?) -> Bool {
        guard let parent else { return true }
        return !holdsRoot(name) || !liesInShare(parent)
    }
}
