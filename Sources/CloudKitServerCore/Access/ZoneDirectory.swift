import CloudKitWire

/// Finds the databases and zones that a caller can reach through the path of a request.
struct ZoneDirectory {
    let call: Call
    let reader: any StorageReader

    /// The owner of the public database's zones in responses.
    static let publicOwner = "_defaultOwner"

    /// Returns the database of the path.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_REQUIRED` or `ACCESS_DENIED`.
    func database() throws -> StoredDatabase {
        let owner = call.path.database == .public ? nil : try call.user().id
        guard let database = try reader.database(call.environment.id, owner: owner) else {
            throw StorageError(.corrupt, "A database is missing")
        }
        return database
    }

    /// Returns the live zone with an ID.
    ///
    /// - Throws: `RequestError` with `ZONE_NOT_FOUND`.
    func zone(_ id: WireZoneID) throws -> ZoneView {
        try checkDatabase()
        try call.work.check(name: id.zoneName)
        try call.work.check(name: id.ownerRecordName)
        if call.path.database == .shared {
            let shared = try sharedZones().first {
                $0.id.zoneName == id.zoneName && $0.id.ownerRecordName == id.ownerRecordName
            }
            guard let shared else { throw notFound(id) }
            return shared
        }
        guard isOwnedByCaller(id) else { throw notFound(id) }
        let database = try database()
        let zone = try reader.zone(database.id, name: id.zoneName)
        guard let zone, !zone.isDeleted else { throw notFound(id, zone?.deletionReason) }
        return ZoneView(zone, in: database, owner: ownerName)
    }

    /// Returns all live zones.
    func zones() throws -> [ZoneView] {
        try checkDatabase()
        if call.path.database == .shared { return try sharedZones() }
        let database = try database()
        return try reader.zones(database.id).map { ZoneView($0, in: database, owner: ownerName) }
    }

    /// Returns other users' zones in which the caller is a participant, by owner and name.
    func sharedZones() throws -> [ZoneView] {
        let user = try call.user()
        let directory = ShareDirectory(environment: call.environment.id)
        var openings: [RowID<StoredZone>: [ZoneAccess.Opening]] = [:]
        for (zone, opening) in try directory.memberships(of: user, reader) {
            openings[zone, default: []].append(opening)
        }
        var views: [ZoneView] = []
        for (id, openings) in openings.sorted(by: { $0.key < $1.key }) {
            guard let zone = try reader.zone(id), !zone.isDeleted,
                let database = try reader.database(zone.database),
                let owner = try database.owner.flatMap({ try reader.user($0) }),
                // An earlier version added owners who opened their own links.
                owner.id != user.id
            else { continue }
            views.append(
                ZoneView(
                    zone,
                    in: database,
                    owner: owner.recordName,
                    access: .shares(openings),
                    viewer: user.id
                )
            )
        }
        return views
    }

    /// The owner name of the path's zones in responses.
    var ownerName: String {
        call.path.database == .public
            ? Self.publicOwner : call.caller.user?.recordName ?? Self.publicOwner
    }

    /// Returns whether an ID denotes the caller's own zone, in any of the ways that clients write it.
    func isOwnedByCaller(_ id: WireZoneID) -> Bool {
        guard let owner = id.ownerRecordName else { return true }
        return WireZoneID.currentUserNames.contains(owner) || owner == call.caller.user?.recordName
    }

    private func checkDatabase() throws {
        if call.path.database != .public { _ = try call.user() }
    }

    /// Returns the error about a nonexistent zone; its owner receives the reason.
    private func notFound(_ id: WireZoneID, _ reason: ZoneDeletionReason? = nil) -> RequestError {
        RequestError(
            .zoneNotFound,
            reason: "Zone does not exist: \(id.zoneName)\(reason?.explanation ?? "")",
            deletionReason: reason
        )
    }
}

extension ZoneDeletionReason {
    /// The text that an error's reason ends with.
    fileprivate var explanation: String {
        switch self {
        case .purged:
            "; the user deleted the app's data in the settings: create the zone again only if the "
                + "user wants it"
        case .encryptedDataReset:
            "; the user reset the encrypted data: create the zone again and upload the local data"
        case .unknown: ""
        }
    }
}
