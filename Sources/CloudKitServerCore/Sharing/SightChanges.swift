import CloudKitWire

/// Finds the records that enter or leave a participant's sight with a commit.
///
/// A zone's feed lists records by their own newest change. Sharing or unsharing a tree, joining or
/// leaving a share, and moving a record change which unmodified records participants see. Each of
/// these records gets a number of its own in the feed of each affected participant; the zone's
/// owner sees none of them.
struct SightChanges {
    /// The changes of a commit for participants.
    struct Result {
        /// The records to list again, by participant.
        var records: [(viewer: RowID<StoredUser>, records: [RowID<StoredRecord>])] = []
        /// The participants whose change tokens expire because too many records are affected.
        var expired: [RowID<StoredUser>] = []
        /// The participants who joined the zone, which starts from the beginning for them.
        var joined: [RowID<StoredUser>] = []
        /// The users who are no longer participants.
        var gone: [RowID<StoredUser>] = []
    }

    private typealias Openings = [RowID<StoredUser>: [ZoneAccess.Opening]]

    let zone: RowID<StoredZone>
    let directory: ShareDirectory
    /// The maximum number of records that one commit lists again, for all participants.
    let largestTree: Int

    /// The access that shares granted before the commit; nil until a relevant change.
    private var before: Openings?
    /// The access that shares grant now; nil if it must be read.
    private var current: Openings?
    /// The parents that moved records had before the commit.
    private var parents: [String: String?] = [:]
    /// The viewers of deleted records whose names were used again.
    private var formerViewers: [String: Set<RowID<StoredUser>>] = [:]

    init(zone: RowID<StoredZone>, directory: ShareDirectory, largestTree: Int) {
        self.zone = zone
        self.directory = directory
        self.largestTree = largestTree
    }

    /// Records that a share is about to be created, changed, deleted, joined or left.
    mutating func shareWillChange(_ reader: any StorageReader) throws {
        if before == nil { before = try openings(reader) }
        current = nil
    }

    /// Returns the participants who see records that are about to be deleted, or saw them before
    /// the commit, by name.
    mutating func viewers(
        of records: [StoredRecord],
        _ reader: any StorageReader
    ) throws -> [String: Set<RowID<StoredUser>>] {
        let openings = try current ?? openings(reader)
        current = openings
        let former = before ?? openings
        let all = Array(openings.values.joined()) + former.values.joined()
        guard !all.isEmpty else { return [:] }
        let roots = Set(all.compactMap(\.root))
        var old = Lineages(zone: zone, roots: roots, parents: parents, reader)
        var new = Lineages(zone: zone, roots: roots, parents: [:], reader)
        var viewers: [String: Set<RowID<StoredUser>>] = [:]
        for name in records.map(\.name) {
            for viewer in Set(openings.keys).union(former.keys) {
                let sees =
                    try Self.shows(openings[viewer] ?? [], name, &new)
                    || saw(name, viewer, former[viewer] ?? [], &old)
                if sees { viewers[name, default: []].insert(viewer) }
            }
        }
        return viewers
    }

    /// Records that a record is about to get another parent, or to be created again under its name.
    mutating func willMove(_ row: StoredRecord, _ reader: any StorageReader) throws {
        if before == nil { before = try openings(reader) }
        guard !parents.keys.contains(row.name) else { return }
        parents[row.name] = .some(row.parent)
        formerViewers[row.name] = row.lastViewers
    }

    /// Compares the records that participants see now with those before the commit.
    func result(_ reader: any StorageReader) throws -> Result {
        guard let before else { return Result() }
        let after = try openings(reader)
        let viewers = Set(before.keys).union(after.keys).sorted()
        guard !viewers.isEmpty else { return Result() }
        let all = viewers.flatMap { (before[$0] ?? []) + (after[$0] ?? []) }
        let roots = Set(all.compactMap(\.root))
        var old = Lineages(zone: zone, roots: roots, parents: parents, reader)
        var new = Lineages(zone: zone, roots: roots, parents: [:], reader)
        var result = Result()
        var count = 0
        // Many participants have the same shares.
        var known: [Set<String?>: [StoredRecord]?] = [:]
        for viewer in viewers {
            let (had, has) = (before[viewer] ?? [], after[viewer] ?? [])
            // Without any share, the zone does not exist for the user; a new participant starts
            // from the beginning.
            if has.isEmpty {
                result.gone.append(viewer)
                continue
            }
            if had.isEmpty {
                result.joined.append(viewer)
                continue
            }
            func isConcerned(_ name: String) throws -> Bool {
                try saw(name, viewer, had, &old) != Self.shows(has, name, &new)
            }
            var tops = Set<String?>(try parents.keys.filter(isConcerned))
            let changed = Set(had.map(Grant.init)).symmetricDifference(has.map(Grant.init))
            tops.formUnion(changed.map(\.root))
            guard !tops.isEmpty else { continue }
            let shares = try changed.compactMap { try reader.record(zone, name: $0.share) }
            let found = try known[tops] ?? records(below: tops, reader)
            known[tops] = .some(found)
            guard let trees = found else {
                result.expired.append(viewer)
                continue
            }
            var listed: Set<RowID<StoredRecord>> = []
            // A tombstone itself lists the viewers of its record.
            for record in trees + shares
            where try !record.isDeleted && isConcerned(record.name) {
                listed.insert(record.id)
            }
            count += listed.count
            if count > largestTree {
                result.expired.append(viewer)
            } else if !listed.isEmpty {
                result.records.append((viewer, listed.sorted()))
            }
        }
        return result
    }

    // MARK: Trees

    /// A share and the top of its hierarchy, regardless of permissions.
    private struct Grant: Hashable {
        let share: String
        let root: String?

        init(_ opening: ZoneAccess.Opening) { (share, root) = (opening.share, opening.root) }
    }

    /// Returns the records of some trees, including tombstones; nil if there are too many.
    ///
    /// The tree of nil is the whole zone. A tree within another one counts once.
    private func records(
        below tops: Set<String?>,
        _ reader: any StorageReader
    ) throws -> [StoredRecord]? {
        let limit = largestTree + 1
        if tops.contains(nil) {
            let all = try reader.changedRecords(zone, after: 0, limit: limit)
            return all.count < limit ? all : nil
        }
        var found: [StoredRecord] = []
        var seen: Set<RowID<StoredRecord>> = []
        for top in tops.compactMap(\.self).sorted() {
            guard let first = try reader.record(zone, name: top) else { continue }
            found.append(first)
            seen.insert(first.id)
        }
        var next = 0
        while next < found.count {
            // A child that was already found does not end the search of the others.
            for child in try reader.children(zone, of: found[next].name, limit: limit)
            where seen.insert(child.id).inserted {
                found.append(child)
            }
            if found.count > largestTree { return nil }
            next += 1
        }
        return found
    }

    // MARK: Sight

    private func openings(_ reader: any StorageReader) throws -> Openings {
        try directory.openings(of: zone, reader)
    }

    /// Returns whether a participant saw a record before the commit.
    private func saw(
        _ name: String,
        _ viewer: RowID<StoredUser>,
        _ openings: [ZoneAccess.Opening],
        _ old: inout Lineages
    ) throws -> Bool {
        try formerViewers[name]?.contains(viewer) ?? Self.shows(openings, name, &old)
    }

    private static func shows(
        _ openings: [ZoneAccess.Opening],
        _ name: String,
        _ lineages: inout Lineages
    ) throws -> Bool {
        if openings.isEmpty { return false }
        let tops = try lineages.tops(of: name)
        return openings.contains { opening in
            opening.share == name || opening.root.map(tops.contains) ?? true
        }
    }
}

extension SightChanges {
    /// Writes a result into the feeds of the participants.
    ///
    /// - Parameters:
    ///   - result: The result to write.
    ///   - change: The number of the commit in the database's feed.
    ///   - sequence: The zone's newest number, which is increased.
    ///   - writer: The commit's writer.
    /// - Throws: An error of the storage.
    func write(
        _ result: Result,
        at change: Int64,
        _ sequence: inout Int64,
        _ writer: any StorageWriter
    ) throws {
        for (viewer, records) in result.records {
            var sightings: [StoredSighting] = []
            for record in records {
                sequence += 1
                sightings.append(StoredSighting(record: record, sequence: sequence))
            }
            try writer.putSightings(sightings, of: viewer, in: zone)
        }
        for viewer in result.joined {
            try directory.addJoining(of: viewer, at: change, in: zone, writer)
        }
        for viewer in result.joined + result.expired {
            sequence += 1
            try directory.expireTokens(of: viewer, before: sequence, in: zone, writer)
        }
    }
}
