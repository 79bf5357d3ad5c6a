import CloudKitWire

extension ZoneDirectory {
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
}
