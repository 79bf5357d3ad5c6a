import CloudKitWire

/// The shared hierarchies of a zone, which do not overlap: each record is in one share at most.
///
/// The participants of two shares would both see a record in the overlap, and neither the owner nor
/// the app could tell which share permits a user to write it.
struct SharedHierarchies {
    /// Two shares that would contain the same records.
    struct Overlap: Hashable {
        /// The top of the hierarchy that would become a part of the other.
        var inner: String
        /// The top of the hierarchy that would contain it.
        var outer: String
    }

    let zone: RowID<StoredZone>
    /// The tops of the shared hierarchies.
    let tops: Set<String>
    let reader: any StorageReader

    /// Returns the overlap that a new share or a move would create; nil if there is none.
    ///
    /// It is the single rule for both. Existing overlaps, which an older server allowed, may be
    /// changed and moved in place.
    ///
    /// - Parameters:
    ///   - name: The record that is to be shared, or that gets another parent.
    ///   - isShared: `true` when it is to become the top of a new share.
    ///   - former: Its previous parent.
    ///   - parent: Its new parent.
    /// - Returns: An overlap, or nil.
    /// - Throws: `StorageError`.
    func overlap(
        of name: String,
        isShared: Bool,
        from former: String?,
        to parent: String?
    ) throws -> Overlap? {
        guard !tops.isEmpty else { return nil }
        var above = try tops(above: parent)
        // A hierarchy that the record was in before overlaps no more than it did.
        if !isShared { above.subtract(try tops(above: former)) }
        if isShared, let outer = above.min() { return Overlap(inner: name, outer: outer) }
        guard isShared || !above.isEmpty else { return nil }
        guard let inner = try top(below: name, besides: isShared) else { return nil }
        return Overlap(inner: inner, outer: above.min() ?? name)
    }

    /// Returns a top at or below a record, or only below it if the record itself does not count.
    private func top(below name: String, besides isBesides: Bool) throws -> String? {
        if !isBesides, tops.contains(name) { return name }
        // Most moved records have nothing below them.
        guard try !reader.children(zone, of: name, limit: 1).isEmpty else { return nil }
        return try tops.sorted().first { try $0 != name && lineage(of: $0).contains(name) }
    }

    /// Returns the depth of a hierarchy that would be deeper below a shared top than participants
    /// can see; nil if it would not.
    ///
    /// A hierarchy with more records than a limit is not checked.
    ///
    /// - Parameters:
    ///   - name: The record that is to be shared, or that gets another parent.
    ///   - former: Its previous parent; records that are no deeper than before are allowed.
    ///   - parent: Its new parent; nil if it is to become the top of a share.
    ///   - limit: The maximum number of records to visit.
    /// - Returns: The number of levels from the top to the deepest record, or nil.
    /// - Throws: `StorageError`.
    func excessiveDepth(
        of name: String,
        from former: String?,
        to parent: String?,
        limit: Int
    ) throws -> Int? {
        guard let depth = try parent.map({ try self.depth(below: $0) }) ?? 0 else { return nil }
        if let before = try former.flatMap(self.depth(below:)), before >= depth { return nil }
        let height = try height(of: name, limit: limit)
        return depth + height < ZoneAccess.depthLimit ? nil : depth + height
    }

    /// Returns the number of levels between a shared top and a child of a record; nil if there is
    /// no top above.
    private func depth(below parent: String) throws -> Int? {
        var next: String? = parent
        for depth in 1...ZoneAccess.depthLimit {
            guard let name = next, let row = try reader.record(zone, name: name) else { return nil }
            if row.share != nil || tops.contains(name) { return depth }
            next = row.parent
        }
        return nil
    }

    /// Returns the number of levels below a record; 0 if there are too many records to visit.
    private func height(of name: String, limit: Int) throws -> Int {
        var level = [name]
        var seen: Set<String> = [name]
        var height = 0
        while true {
            var below: [String] = []
            for parent in level {
                for child in try reader.children(zone, of: parent, limit: limit)
                where !child.isDeleted && seen.insert(child.name).inserted {
                    below.append(child.name)
                }
                if seen.count > limit { return 0 }
            }
            if below.isEmpty { return height }
            height += 1
            level = below
        }
    }

    private func tops(above name: String?) throws -> Set<String> {
        try name.map { tops.intersection(try lineage(of: $0)) } ?? []
    }

    /// Returns the names of a record and those above it.
    private func lineage(of name: String) throws -> Set<String> {
        var lineage: Set<String> = []
        var next: String? = name
        while let name = next, lineage.count < ZoneAccess.depthLimit, lineage.insert(name).inserted
        {
            next = try reader.record(zone, name: name)?.parent
        }
        return lineage
    }
}

extension RecordCommit {
    /// Refuses to share a record that is in a shared hierarchy or contains one, and to move a
    /// record that contains one into another.
    mutating func checkOverlap(
        of name: String,
        isShared: Bool = false,
        from former: String?,
        to parent: String?
    ) throws {
        let hierarchies = SharedHierarchies(
            zone: zone.zone.id,
            tops: try tops(),
            reader: writer
        )
        let overlap = try hierarchies.overlap(
            of: name,
            isShared: isShared,
            from: former,
            to: parent
        )
        guard let overlap else { return }
        // Participants do not know the other shares of the zone.
        let tops =
            zone.access == .everything
            ? "'\(overlap.inner)' would lie in the hierarchy of '\(overlap.outer)', and both would "
                + "be shared" : "'\(name)' contains a record with a share of its own"
        throw RecordFailure(
            .badRequest,
            "\(ShareRefusal.alreadyShared.rawValue): \(tops); delete one share first, or move the "
                + "record elsewhere"
        )
    }

    /// Refuses to put records deeper below a shared one than its participants could see.
    mutating func checkDepth(
        of name: String,
        from former: String?,
        to parent: String?
    ) throws {
        let hadShares = try self.hadShares ?? !writer.shares(zone.zone.id).isEmpty
        self.hadShares = hadShares
        guard parent == nil || hadShares || !newShares.isEmpty else { return }
        // The roots of other shares name them.
        let hierarchies = SharedHierarchies(
            zone: zone.zone.id,
            tops: Set(newShares.keys),
            reader: writer
        )
        let depth = try hierarchies.excessiveDepth(
            of: name,
            from: former,
            to: parent,
            limit: rules.configuration.listedRecords
        )
        guard let depth else { return }
        throw RecordFailure(
            .badRequest,
            "'\(name)' would take a shared hierarchy to \(depth) levels below its top, and "
                + "participants see \(ZoneAccess.depthLimit - 1); move the record up, or share one "
                + "that is nearer to it"
        )
    }

    /// Returns the tops of all shared hierarchies of the zone.
    private mutating func tops() throws -> Set<String> {
        let shares = ShareDirectory(environment: call.environment.id)
        let known =
            try sharedTops ?? Set(shares.shares(of: zone.zone.id, writer).compactMap(\.part.root))
        sharedTops = known
        // The roots of new shares do not name them yet.
        return known.union(try newShares.filter { try isLive($0.value) }.keys)
    }
}
