import CloudKitWire

/// The roots of the shared trees that contain records, according to the parents at one moment.
struct Lineages {
    let zone: RowID<StoredZone>
    let roots: Set<String>
    /// The parents that differ from the records' current ones.
    let parents: [String: String?]
    let reader: any StorageReader
    /// The roots above each record, with their distances.
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

    /// Returns the roots of the shared trees that contain a record.
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
        // If a path is too long, the roots above its last record are unknown.
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
