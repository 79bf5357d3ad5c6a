import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where shares are found: by the short identifier of their link, and by who accepted them.
///
/// An entry only says where to look; whether a share still lets a user in is read from the share.
struct ShareDirectory {
    let environment: RowID<StoredEnvironment>

    /// A share's place.
    struct Place: Hashable, Codable {
        var zone: Int64
        var share: String
    }

    private var links: String { "shareLink/\(environment.rawValue)" }

    private func memberships(_ user: RowID<StoredUser>) -> String {
        "shareMembership/\(environment.rawValue)/\(user.rawValue)"
    }

    /// The share of a link, if it exists.
    func share(
        _ shortGUID: String,
        _ reader: any StorageReader
    ) throws -> (row: StoredRecord, part: SharePart)? {
        guard let body = try reader.document(links, shortGUID),
            let place = try? JSONDecoder().decode(Place.self, from: body),
            let share = try share(at: place, reader),
            // Another share of that name has another link, as the one of a zone made anew.
            share.part.shortGUID == shortGUID
        else { return nil }
        return share
    }

    /// The shares that a user has accepted and that still let the user in.
    func memberships(
        of user: StoredUser,
        _ reader: any StorageReader
    ) throws -> [(zone: RowID<StoredZone>, opening: ZoneAccess.Opening)] {
        try reader.documents(memberships(user.id)).compactMap { document in
            guard let place = try? JSONDecoder().decode(Place.self, from: document.body),
                let share = try share(at: place, reader),
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
            !row.isDamaged, let extra = row.extra
        else { return nil }
        return (row, try SharePart(stored: extra))
    }

    /// Enters a share's link.
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

    /// Enters that a user has accepted a share.
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

    /// Enters that a user takes part in a zone, or is about to.
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

    private func members(_ zone: RowID<StoredZone>) -> String {
        "shareMember/\(environment.rawValue)/\(zone.rawValue)"
    }

    private func expiries(_ zone: RowID<StoredZone>) -> String {
        "shareExpiry/\(environment.rawValue)/\(zone.rawValue)"
    }

    /// Makes a participant's change tokens of a zone expire that were given before a number.
    func expireTokens(
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        in zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        try writer.putDocument(
            expiries(zone),
            StoredDocument(name: String(viewer.rawValue), body: Data(String(sequence).utf8))
        )
    }

    /// The number before which a participant's change tokens of a zone have expired; 0 for none.
    func expiry(
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Int64 {
        let body = try reader.document(expiries(zone), String(viewer.rawValue))
        return body.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// The users who have ever accepted a share of a zone.
    func members(
        of zone: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> [RowID<StoredUser>] {
        try reader.documents(members(zone)).compactMap {
            Int64($0.name).map(RowID.init(rawValue:))
        }
    }
}
