import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The directory of shares, by the short GUID of their link and by the users who accepted them.
///
/// An entry is only a hint; the share itself decides whether a user still has access.
struct ShareDirectory {
    let environment: RowID<StoredEnvironment>

    /// The location of a share.
    struct Place: Hashable, Codable {
        var zone: Int64
        var share: String
    }

    private var links: String { "shareLink/\(environment.rawValue)" }

    private func memberships(_ user: RowID<StoredUser>) -> String {
        "shareMembership/\(environment.rawValue)/\(user.rawValue)"
    }

    /// Adds what is read to find the zones that are shared with a user.
    func addNeeds(of user: RowID<StoredUser>, to needs: inout StorageNeeds) {
        needs.collections.insert(memberships(user))
    }

    /// Adds the members of a zone.
    func addNeeds(ofMembersOf zone: RowID<StoredZone>, to needs: inout StorageNeeds) {
        needs.collections.insert(members(zone))
    }

    /// Adds the members of a zone whose number is not known yet.
    func addMembers(to contents: inout StorageNeeds.Contents) {
        contents.collections.insert(membersOfZones)
    }

    /// Returns the share of a link, if it exists.
    func share(
        _ shortGUID: String,
        _ reader: any StorageReader
    ) throws -> (row: StoredRecord, part: SharePart)? {
        guard let body = try reader.document(links, shortGUID),
            // A damaged link leads nowhere.
            let place = try? JSONDecoder().decode(Place.self, from: body),
            let share = try share(at: place, reader),
            // A new share with the same name has another link, as in a zone that was created again.
            share.part.shortGUID == shortGUID
        else { return nil }
        return share
    }

    /// Returns the shares that a user has accepted and still has access to.
    func memberships(
        of user: StoredUser,
        _ reader: any StorageReader
    ) throws -> [(zone: RowID<StoredZone>, opening: ZoneAccess.Opening)] {
        let places = try reader.documents(memberships(user.id)).compactMap { document in
            // A damaged membership opens nothing.
            try? JSONDecoder().decode(Place.self, from: document.body)
        }
        try reader.prepare { _ in
            var needs = StorageNeeds()
            for place in places {
                needs.zone(RowID(rawValue: place.zone)) { $0.records.append(place.share) }
            }
            return needs
        }
        return try places.compactMap { place in
            guard let share = try share(at: place, reader),
                let opening = share.part.opening(for: user.recordName, share: place.share)
            else { return nil }
            return (share.row.zone, opening)
        }
    }

    private func share(
        at place: Place,
        _ reader: any StorageReader
    ) throws -> (row: StoredRecord, part: SharePart)? {
        let zone = RowID<StoredZone>(rawValue: place.zone)
        guard let row = try reader.record(zone, name: place.share), !row.isDeleted,
            !row.isDamaged, let part = try row.sharePart
        else { return nil }
        return (row, part)
    }

    /// Returns the shares of a zone, or those with certain names.
    func shares(
        of zone: RowID<StoredZone>,
        among asked: Set<String>? = nil,
        _ reader: any StorageReader
    ) throws -> [(name: String, part: SharePart)] {
        let names = try asked ?? Set(reader.shares(zone) + [SharePart.zoneShareName])
        try reader.prepare { _ in .records(names.sorted(), in: zone) }
        return try names.sorted().compactMap { name in
            let place = Place(zone: zone.rawValue, share: name)
            return try share(at: place, reader).map { (name, $0.part) }
        }
    }

    /// Returns the access that the shares of a zone, or those with certain names, grant to participants.
    func openings(
        of zone: RowID<StoredZone>,
        among asked: Set<String>? = nil,
        _ reader: any StorageReader
    ) throws -> [RowID<StoredUser>: [ZoneAccess.Opening]] {
        let members = try members(of: zone, reader)
        guard !members.isEmpty else { return [:] }
        // There may be a thousand shares, each with a thousand participants.
        var opened: [String: [ZoneAccess.Opening]] = [:]
        for (name, part) in try shares(of: zone, among: asked, reader) {
            for (user, opening) in part.openings(share: name) {
                opened[user, default: []].append(opening)
            }
        }
        try reader.prepare { _ in
            var needs = StorageNeeds()
            needs.users = Set(members)
            return needs
        }
        // An earlier version added owners who opened their own links.
        let owner = try reader.zone(zone).flatMap { try reader.database($0.database) }?.owner
        var openings: [RowID<StoredUser>: [ZoneAccess.Opening]] = [:]
        for id in members where id != owner {
            guard let user = try reader.user(id) else { continue }
            openings[id] = opened[user.recordName] ?? []
        }
        return openings
    }

    /// Adds a share's link.
    func addLink(
        _ shortGUID: String,
        to share: String,
        in zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        let place = Place(zone: zone.rawValue, share: share)
        try writer.putDocument(
            links,
            StoredDocument(name: shortGUID, body: JSONEncoder().encode(place))
        )
    }

    /// Records that a user has accepted a share.
    func addMembership(
        of user: RowID<StoredUser>,
        in share: StoredRecord,
        _ writer: any StorageWriter
    ) throws {
        let place = Place(zone: share.zone.rawValue, share: share.name)
        let name = "\(share.zone.rawValue)/\(share.name)"
        try writer.putDocument(
            memberships(user),
            StoredDocument(name: name, body: JSONEncoder().encode(place))
        )
        try addMember(user, of: share.zone, writer)
    }

    /// Records that a user is, or is about to become, a participant in a zone.
    func addMember(
        _ user: RowID<StoredUser>,
        of zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        try writer.putDocument(
            members(zone),
            StoredDocument(name: String(user.rawValue), body: Data())
        )
    }

    /// Removes users from the participants of a zone, unless one of its shares still names them,
    /// even without access for now.
    ///
    /// While a share is damaged no user is removed because it may be one of theirs.
    func removeMembers(
        _ users: [RowID<StoredUser>],
        of zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        guard !users.isEmpty, try !hasDamagedShares(zone, writer) else { return }
        let participants = try shares(of: zone, writer).flatMap(\.part.participants)
        let accepted = Set(
            participants.filter { $0.acceptanceStatus == .accepted }
                .compactMap { $0.userIdentity?.userRecordName }
        )
        for user in users {
            if let name = try writer.user(user)?.recordName, accepted.contains(name) { continue }
            try writer.removeDocument(members(zone), String(user.rawValue))
            let memberships = memberships(user)
            for document in try writer.documents(memberships)
            where document.name.hasPrefix("\(zone.rawValue)/") {
                try writer.removeDocument(memberships, document.name)
            }
        }
    }

    private func hasDamagedShares(
        _ zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Bool {
        try (reader.shares(zone) + [SharePart.zoneShareName]).contains { name in
            let row = try reader.record(zone, name: name)
            return row.map { !$0.isDeleted && $0.isDamaged } ?? false
        }
    }

    private var membersOfZones: String { "shareMember/\(environment.rawValue)/" }

    private func members(_ zone: RowID<StoredZone>) -> String {
        membersOfZones + String(zone.rawValue)
    }

    /// Returns the participants of shares in a zone, possibly including former ones.
    func members(
        of zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> [RowID<StoredUser>] {
        try reader.documents(members(zone)).compactMap {
            Int64($0.name).map(RowID.init(rawValue:))
        }
    }

    // MARK: Numbers of participants

    private func expiries(_ zone: RowID<StoredZone>) -> String {
        "shareExpiry/\(environment.rawValue)/\(zone.rawValue)"
    }

    /// Expires a participant's change tokens of a zone that precede a sequence number.
    func expireTokens(
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        in zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        try enter(sequence, of: viewer, in: expiries(zone), writer)
    }

    /// Returns the sequence number before which a participant's change tokens of a zone have
    /// expired; 0 if none have.
    func expiry(
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Int64 {
        try number(of: viewer, in: expiries(zone), reader)
    }

    private func joinings(_ zone: RowID<StoredZone>) -> String {
        "shareJoining/\(environment.rawValue)/\(zone.rawValue)"
    }

    /// Records when a user became a participant in a zone: the user's earlier data of it is obsolete.
    func addJoining(
        of viewer: RowID<StoredUser>,
        at change: Int64,
        in zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        try enter(change, of: viewer, in: joinings(zone), writer)
    }

    /// Returns the change of a zone's database with which a user last joined the zone; 0 if an
    /// earlier version, which did not record it, added the user.
    func joining(
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Int64 {
        try number(of: viewer, in: joinings(zone), reader)
    }

    private func enter(
        _ number: Int64,
        of viewer: RowID<StoredUser>,
        in collection: String,
        _ writer: any StorageWriter
    ) throws {
        try writer.putDocument(
            collection,
            StoredDocument(name: String(viewer.rawValue), body: Data(String(number).utf8))
        )
    }

    private func number(
        of viewer: RowID<StoredUser>,
        in collection: String,
        _ reader: any StorageReader
    ) throws -> Int64 {
        let body = try reader.document(collection, String(viewer.rawValue))
        return body.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }
}
