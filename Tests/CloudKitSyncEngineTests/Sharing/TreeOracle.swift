/// An oracle of what three users may see and change in a zone, derived only from its records and
/// shares.
struct TreeOracle {
    struct Share {
        var root: String
        var canWrite: Bool
        var guests: Set<Int> = []
    }

    var items: [String: TreeFollower.Item] = [:]
    var shares: [String: Share] = [:]

    /// Returns a record and those above it.
    func lineage(_ name: String) -> [String] {
        var names = [name]
        while let parent = items[names[names.count - 1]]?.parent { names.append(parent) }
        return names
    }

    func hasChildren(_ name: String) -> Bool { items.values.contains { $0.parent == name } }

    /// Returns the records that a guest sees; for nil, those of the owner.
    func visible(to guest: Int?) -> [String: TreeFollower.Item] {
        let open = shares.filter { share in guest.map { share.value.guests.contains($0) } ?? true }
        let roots = Set(open.values.map(\.root))
        var visible = items.filter { guest == nil || !roots.isDisjoint(with: lineage($0.key)) }
        for name in open.keys { visible[name] = .init() }
        return visible
    }

    /// Returns the records below shared ones that a guest may change, move and delete.
    func writable(by guest: Int) -> [String] {
        let roots = shares.values.filter { $0.canWrite && $0.guests.contains(guest) }.map(\.root)
        return items.keys.filter { !Set(roots).isDisjoint(with: lineage($0).dropFirst()) }.sorted()
    }

    private var roots: Set<String> { Set(shares.values.map(\.root)) }

    func holdsRoot(_ name: String) -> Bool { roots.contains { lineage($0).contains(name) } }

    func liesInShare(_ name: String) -> Bool { !roots.isDisjoint(with: lineage(name)) }
}
