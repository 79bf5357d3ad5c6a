import CloudKitWire

/// One page of a zone's change feed.
struct ZoneChangesPage {
    /// A record in the feed.
    struct Entry {
        let record: StoredRecord
        let sequence: Int64
        /// `true` when the record is listed because it entered or left the caller's sight; a record
        /// that the caller no longer sees is reported as deleted.
        let isSighting: Bool
    }

    let zone: ZoneView
    let entries: [Entry]
    let next: SyncToken
    let hasMore: Bool

    /// Reads the page after a token.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` or `CHANGE_TOKEN_EXPIRED`.
    init(
        of zone: ZoneView,
        after text: String?,
        isReverse: Bool,
        limit: Int,
        _ seal: TokenSeal,
        _ reader: any StorageReader
    ) throws {
        self.zone = zone
        let start = try Self.start(text, in: zone, isReverse: isReverse, seal, reader)
        // One more than the page, which shows whether there is another one.
        let found = try Self.entries(zone, start, limit: limit + 1, reader)
        hasMore = found.count > limit
        let page = found.prefix(limit)
        // Only a viewer's feed lists a record a second time, as a sighting.
        entries = zone.viewer == nil ? Array(page) : Self.withoutRepetitions(page)
        var next = zone.syncToken(
            after: page.last?.sequence ?? start.sequence,
            isReverse: start.isReverse
        )
        if next.isReverse || next.sequence < start.begun { next.begun = start.begun }
        self.next = next
    }

    /// Returns the part of the feed that a page reads; nil if it depends on the zone.
    static func feed(
        after text: String?,
        isReverse: Bool,
        limit: Int,
        _ seal: TokenSeal
    ) -> StorageNeeds.Feed? {
        let token = text.flatMap { SyncToken.open($0, with: seal, for: .zoneChanges) }
        let isReverse = token?.isReverse ?? isReverse
        if token == nil, isReverse { return nil }
        return StorageNeeds.Feed(
            from: token?.sequence ?? 0,
            isReverse: isReverse,
            limit: limit + 1
        )
    }

    /// Returns each record once because every entry shows its latest state.
    private static func withoutRepetitions(_ page: ArraySlice<Entry>) -> [Entry] {
        var places: [RowID<StoredRecord>: Int] = [:]
        var entries: [Entry] = []
        for entry in page {
            if let place = places[entry.record.id] {
                if entry.isSighting { entries[place] = entry }
            } else {
                places[entry.record.id] = entries.count
                entries.append(entry)
            }
        }
        return entries
    }

    /// Returns the entries after a position: the changes of records and, for a viewer who sees only
    /// a part of the zone, also the records that entered or left that part.
    private static func entries(
        _ zone: ZoneView,
        _ start: SyncToken,
        limit: Int,
        _ reader: any StorageReader
    ) throws -> [Entry] {
        let id = zone.zone.id
        let place = start.sequence
        let changed =
            start.isReverse
            ? try reader.changedRecords(id, before: place, limit: limit)
            : try reader.changedRecords(id, after: place, limit: limit)
        let changes = changed.map { Entry(record: $0, sequence: $0.sequence, isSighting: false) }
        guard let viewer = zone.viewer else { return changes }
        let seen =
            start.isReverse
            ? try reader.sightings(id, of: viewer, before: place, limit: limit)
            : try reader.sightings(id, of: viewer, after: place, limit: limit)
        try reader.prepare { _ in .records(seen.map(\.record), in: id) }
        let sightings = try seen.compactMap { sighting in
            try reader.record(sighting.record, in: id).map {
                Entry(record: $0, sequence: sighting.sequence, isSighting: true)
            }
        }
        let merged = (changes + sightings).sorted {
            ($0.sequence < $1.sequence) != start.isReverse
        }
        return Array(merged.prefix(limit))
    }

    private static func start(
        _ text: String?,
        in zone: ZoneView,
        isReverse: Bool,
        _ seal: TokenSeal,
        _ reader: any StorageReader
    ) throws -> SyncToken {
        var fresh = zone.syncToken(
            after: isReverse ? zone.zone.headSequence + 1 : 0,
            isReverse: isReverse
        )
        fresh.begun = zone.zone.headSequence
        guard let text else { return fresh }
        let open = SyncToken.open(text, with: seal, for: .zoneChanges)
        // If the zone's row no longer exists, a reset removed it, and this zone has its name since.
        let home = try open.flatMap { try reader.zone(RowID(rawValue: $0.feed)) }
        let isGone = open != nil && home == nil
        // A token of another database was issued to another user, or to this one elsewhere.
        let isForeign = home.map { $0.database != zone.database.id } ?? false
        guard var token = open, isGone || isForeign || token.feed == fresh.feed else {
            throw RequestError(
                .badRequest,
                reason: "Unknown sync continuation type: the syncToken is not one of zone "
                    + "'\(zone.id.zoneName)'"
            )
        }
        // Another user's token, even the owner's, does not show how much this user has read.
        let expiry = try zone.viewer.map { viewer in
            try ShareDirectory(environment: zone.database.environment)
                .expiry(of: viewer, in: zone.zone.id, reader)
        }
        guard !isForeign, token.viewer == fresh.viewer,
            token.knownDeletions >= expiry ?? 0 || token.sequence == 0
        else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken does not belong to the caller's view of zone "
                    + "'\(zone.id.zoneName)'; start without one"
            )
        }
        guard !isGone, token.incarnation == fresh.incarnation,
            token.sequence <= zone.zone.headSequence + (token.isReverse ? 1 : 0)
        else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken belongs to an earlier generation of zone "
                    + "'\(zone.id.zoneName)'; start without one"
            )
        }
        // A client that has read nothing yet misses nothing.
        let hasMissed =
            !token.isReverse && token.sequence > 0
            && token.knownDeletions < zone.zone.horizonSequence
        guard !hasMissed else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken is older than the deletions that zone "
                    + "'\(zone.id.zoneName)' still knows; start without one"
            )
        }
        if token.sequence == 0 { token.begun = fresh.begun }
        return token
    }
}
