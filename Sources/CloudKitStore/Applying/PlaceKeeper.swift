import CloudKit
import GRDB

/// The places of shared rows, kept as the server has their records.
struct PlaceKeeper: ApplyPhase {
    let context: ApplyContext

    /// Stores the place of a shared record, as the server reports it.
    func locate(_ remote: RemoteRecord, _ key: RowKey) throws {
        // Records of the public database cannot be shared.
        guard zone != .public else { return }
        // Where another client determines the format, an object that leaves a zone that is shared is as any other.
        if catalog.hasFormats, zone == .own {
            if context.hasPlaces { try Place.drop(database, key) }
            return
        }
        let isShared = remote.share != nil || zone != .own
        guard isShared || context.hasPlaces else { return }
        let before = try Place.fetch(database, key)
        // An unshared record matters only where a place remains of its former share.
        guard isShared || before != nil else { return }
        if !context.hasPlaces { try SharingTriggers.install(catalog, in: database) }
        // A share that came or ended changes the places of all rows below.
        if zone == .own, before?.share != remote.share { context.reshared.append(key) }
        context.hasPlaces = true
        if isOthers { context.located[remote.name] = key }
        try Place(
            zone: zone,
            name: remote.name,
            parent: remote.parent,
            share: remote.share,
            // Another user's row is read-only until its share is known; see `derivePermissions`.
            writes: zone.isOwned || (before?.writes ?? (zone == .own))
        ).save(database, key)
    }

    /// Returns the name of the share by which another user's record is here, if it has not arrived.
    ///
    /// The share says whether the row, and those below it, may be written: they show together.
    func missingShare(of remote: RemoteRecord) throws -> String? {
        // A record below another one waits for that one instead.
        guard isOthers, remote.parent == nil || remote.share != nil else { return nil }
        let name = remote.share ?? CKRecordNameZoneWideShare
        let statement = try database.cachedStatement(
            sql:
                "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_share WHERE zone = ? AND name IN (?, ?))"
        )
        let isThere = try Bool.fetchOne(
            statement,
            arguments: [zone, name, CKRecordNameZoneWideShare]
        )
        return isThere == true ? nil : name
    }

    /// Updates which records may be changed here after shares of their zone have arrived.
    func follow(_ shares: [String]) throws {
        // Not with the first row: new rows belong in a whole zone that has none.
        try SharingTriggers.install(catalog, in: database)
        let tops = try Place.keys(ofTops: shares, in: zone, database)
        var permissions = try SharePermissions(database, zone, keys: tops)
        try permissions.update()
    }

    /// Updates the places of the written rows to match the rows.
    func settleTrees() throws {
        let (tops, rows) = (context.reshared, context.written)
        context.reshared = []
        context.written = []
        guard context.hasPlaces else { return }
        try derivePermissions()
        let trees = SharedTrees(database, mapping)
        // Rows below a shared one may have changed while they were not shared; below an edited one
        // only a change of its place matters.
        try trees.settle(tops, includesBelow: true)
        try trees.settle(rows)
    }

    /// Updates, from the shares above them, which of the records that have arrived may be changed here:
    /// rows show together with their permissions.
    ///
    /// A record below none that is here keeps its permission until the records above it arrive.
    func derivePermissions() throws {
        guard !context.located.isEmpty else { return }
        var permissions = try SharePermissions(database, zone, keys: context.located)
        context.located = [:]
        try permissions.update()
    }

    /// Forgets the shares among some deleted records.
    func forgetShares(_ names: [String]) throws {
        guard context.hasPlaces, zone != .public else { return }
        // A name that belongs to a record of the file is no share's.
        for name in names where try KnownRecord.fetch(database, name: name) == nil {
            guard let top = try Place.forgetShare(database, name, zone), zone == .own else {
                continue
            }
            context.reshared.append(top)
        }
    }
}
