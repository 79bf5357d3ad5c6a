import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a share has besides a record's own parts.
struct SharePart: Hashable, Sendable, Codable {
    /// The name of every share of a whole zone.
    static let zoneShareName = "cloudkit.zoneshare"

    /// The top of the shared hierarchy; nil for a share of the zone.
    var root: String?
    /// What everyone with the link may do.
    var publicPermission: WireParticipant.Permission
    /// The last part of the share's link.
    var shortGUID: String
    /// Who takes part, the owner first.
    var participants: [WireParticipant]

    init(
        root: String?,
        publicPermission: WireParticipant.Permission,
        shortGUID: String,
        participants: [WireParticipant]
    ) {
        self.root = root
        self.publicPermission = publicPermission
        self.shortGUID = shortGUID
        self.participants = participants
    }

    /// Reads the stored form.
    init(stored: Data) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: stored)
        } catch {
            throw StorageError(.corrupt, "A stored share cannot be read: \(error)")
        }
    }

    /// The stored form.
    var stored: Data {
        get throws { try JSONEncoder().encode(self) }
    }

    /// The participant of a user.
    func participant(_ user: String?) -> WireParticipant? {
        guard let user else { return nil }
        return participants.first { $0.userIdentity?.userRecordName == user }
    }

    /// What the share lets a user do; nil when the user has not accepted.
    func opening(for user: String, share: String) -> ZoneAccess.Opening? {
        guard let participant = participant(user), participant.acceptanceStatus == .accepted else {
            return nil
        }
        let permissions = [participant.permission ?? .none, publicPermission]
        guard permissions.contains(where: { $0 == .readOnly || $0 == .readWrite }) else {
            return nil
        }
        return ZoneAccess.Opening(
            share: share,
            root: root,
            canWrite: permissions.contains(.readWrite)
        )
    }

    /// Writes the parts beside those of the record.
    func write(caller: String?, owner zone: WireZoneID, to writer: inout JSONWriter) throws {
        writer.member("shortGUID", shortGUID)
        writer.member("publicPermission", publicPermission.rawValue)
        writer.key("participants")
        writer.json(try WireJSON.encode(participants))
        if let owner = participants.first {
            writer.key("owner")
            writer.json(try WireJSON.encode(owner))
        }
        if let current = participant(caller) {
            writer.key("currentUserParticipant")
            writer.json(try WireJSON.encode(current))
        }
    }
}
