import CloudKitWire

/// The tops of shared trees in which records are, by the parents of one moment.
struct Lineages {
    let zone: RowID<StoredZone>
    let roots: Set<String>
    /// The parents that differ from those that records have now.
    let parents: [String: String?]
    let reader: any StorageReader
    /// The tops above each record, and how far up they are.
    private var known: [String: [String: Int]] = [:]

    init(
        zone: RowID<StoredZone>,
        roots: Set<String>,
        parents: [String: String?],
        _ reader: any StorageReader
    ) {
        self.zone = zone
        self.roots = roots
        self.parents = parents
        self.reader = reader
    }

    /// The tops of the shared trees in which a record is.
    mutating func tops(of name: String) throws -> Set<String> {
        Set(try distances(of: name).keys)
    }

    private mutating func distances(of name: String) throws -> [String: Int] {
        if let tops = known[name] { return tops }
        var path: [String] = []
        var next: String? = name
        var above: [String: Int] = [:]
        while let current = next, path.count < ZoneAccess.depthLimit, !path.contains(current) {
            if let tops = known[current] {
                above = tops
                break
            }
            path.append(current)
            next = try parent(of: current)
        }
        // What is above the last of a path that is too long is not known.
        let isWhole = path.count < ZoneAccess.depthLimit || next == nil
        for step in path.reversed() {
            above = above.mapValues { $0 + 1 }.filter { $0.value < ZoneAccess.depthLimit }
            if roots.contains(step) { above[step] = 0 }
            if isWhole { known[step] = above }
        }
        return above
    }

    private func parent(of name: String) throws -> String? {
        if let moved = parents[name] { return moved }
        return try reader.record(zone, name: name)?.parent
    }
}
