import CloudKitWire

/// Finds the records that a commit brings into, or takes out of, what participants of a zone see.
///
/// A zone's feed lists records by their own newest change. Sharing or unsharing a tree, joining or
/// leaving a share, and moving a record change what participants see of records that stay as they
/// are. Each such record gets a number of its own in the feed of each participant concerned; the
/// zone's owner sees nothing of it.
struct SightChanges {
    /// What a commit changed for participants.
    struct Result {
        /// The records to list again, by participant.
        var records: [(viewer: RowID<StoredUser>, records: [RowID<StoredRecord>])] = []
        /// The participants whose change tokens expire, because too many records are concerned.
        var expired: [RowID<StoredUser>] = []
        /// Those who came to the zone, which starts anew for them.
        var joined: [RowID<StoredUser>] = []
        /// Those who took part and do not any more.
        var gone: [RowID<StoredUser>] = []
    }

    private typealias Openings = [RowID<StoredUser>: [ZoneAccess.Opening]]

    let zone: RowID<StoredZone>
    let directory: ShareDirectory
    /// The most records that one commit lists again, for all participants.
    let largestTree: Int

    /// What shares opened before the commit; nil as long as nothing changed that matters.
    private var before: Openings?
    /// What shares open now; nil where it has to be read.
    private var current: Openings?
    /// The parents that moved records had before the commit.
    private var parents: [String: String?] = [:]
    /// Who saw the records that were made anew under the names of deleted ones.
    private var formerViewers: [String: Set<RowID<StoredUser>>] = [:]

    init(zone: RowID<StoredZone>, directory: ShareDirectory, largestTree: Int) {
        self.zone = zone
        self.directory = directory
        self.largestTree = largestTree
    }

    /// Notes that a share is about to be made, changed, deleted, joined or left.
    mutating func shareWillChange(_ reader: any StorageReader) throws {
        if before == nil { before = try openings(reader) }
        current = nil
    }

    /// The participants who see records that are about to be deleted, or saw them before the commit,
    /// by name.
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

    /// Notes that a record is about to get another parent, or to be made anew under its name.
    mutating func willMove(_ row: StoredRecord, _ reader: any StorageReader) throws {
        if before == nil { before = try openings(reader) }
        guard !parents.keys.contains(row.name) else { return }
        parents[row.name] = .some(row.parent)
        formerViewers[row.name] = row.lastViewers
    }

    /// Compares what participants see now with what they saw before the commit.
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
            // Without any share the zone is not there; who comes to it starts anew.
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
            // A tombstone says itself who saw the record.
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

    /// A share and the top of what it shares, whatever it allows.
    private struct Grant: Hashable {
        let share: String
        let root: String?

        init(_ opening: ZoneAccess.Opening) { (share, root) = (opening.share, opening.root) }
    }

    /// The records of some trees, tombstones too; nil when they are too many.
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
            // Children that are found already do not make others go unread.
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

    /// Whether a participant saw a record before the commit.
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
    ///   - result: What to write.
    ///   - change: The number of the commit in the database's feed.
    ///   - sequence: The zone's newest number; moved forward.
    ///   - writer: The commit's writer.
    /// - Throws: What the storage throws.
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
