import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts that a share has in addition to other records' parts.
struct SharePart: Hashable, Sendable, Codable {
    /// The name of every share of a whole zone.
    static let zoneShareName = "cloudkit.zoneshare"

    /// The top of the shared hierarchy; nil for a share of the zone.
    var root: String?
    /// The permission of everyone with the link.
    var publicPermission: WireParticipant.Permission
    /// The last part of the share's link.
    var shortGUID: String
    /// The participants, the owner first.
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

    /// Returns the participant of a user.
    func participant(_ user: String?) -> WireParticipant? {
        guard let user else { return nil }
        return participants.first { $0.userIdentity?.userRecordName == user }
    }

    /// `true` when the share is open to everyone with the link.
    var isPublic: Bool { publicPermission == .readOnly || publicPermission == .readWrite }

    /// Returns a participant's permission; for one who joined through the link, the current public
    /// permission.
    func permission(of participant: WireParticipant) -> WireParticipant.Permission {
        participant.type == .publicUser ? publicPermission : participant.permission ?? .none
    }

    /// Returns the access that the share grants to a user; nil if the user has not accepted it.
    func opening(for user: String, share: String) -> ZoneAccess.Opening? {
        guard let participant = participant(user), participant.acceptanceStatus == .accepted else {
            return nil
        }
        return preview(for: user, share: share)
    }

    /// Returns the access that the share grants to users who accepted it, by user name.
    func openings(share: String) -> [String: ZoneAccess.Opening] {
        var seen: Set<String> = []
        var openings: [String: ZoneAccess.Opening] = [:]
        for participant in participants {
            // The first entry of a name is used, the same as when a single user is looked up.
            guard let user = participant.userIdentity?.userRecordName,
                seen.insert(user).inserted, participant.acceptanceStatus == .accepted
            else { continue }
            openings[user] = preview(of: participant, share: share)
        }
        return openings
    }

    /// Returns the access that the share would grant to a user who accepts it; nil if it grants none.
    func preview(for user: String?, share: String) -> ZoneAccess.Opening? {
        preview(of: participant(user), share: share)
    }

    private func preview(of participant: WireParticipant?, share: String) -> ZoneAccess.Opening? {
        // Invited users also have the public permission.
        let permissions = [participant.map(permission(of:)), publicPermission]
        guard permissions.contains(where: { $0 == .readOnly || $0 == .readWrite }) else {
            return nil
        }
        return ZoneAccess.Opening(
            share: share,
            root: root,
            canWrite: permissions.contains(.readWrite)
        )
    }

    /// Adds a user who was invited, or who has the link of a public share.
    ///
    /// - Throws: `RequestError` when the share has the maximum number of participants.
    mutating func accept(_ user: StoredUser) throws {
        if let index = participants.firstIndex(where: {
            $0.userIdentity?.userRecordName == user.recordName
        }) {
            participants[index].acceptanceStatus = .accepted
            return
        }
        // With one more participant, the owner could no longer save the share.
        guard participants.count < Limits.participantsPerShare else {
            throw RequestError(
                .badRequest,
                reason: "\(ShareRefusal.tooManyParticipants.rawValue): the share has "
                    + "\(participants.count), which is the most it can have"
            )
        }
        participants.append(
            WireParticipant(
                participantId: "u\(user.id.rawValue)",
                type: .publicUser,
                permission: publicPermission,
                acceptanceStatus: .accepted,
                userIdentity: ParticipantIdentity(user)
            )
        )
    }

    /// Returns whether another share has the same participants: none is new or has another
    /// permission, and only unaccepted invitations are missing.
    func hasSameParticipants(as other: SharePart) -> Bool {
        let (guests, others) = (guests, other.guests)
        return others.isSubset(of: guests)
            && guests.subtracting(others).allSatisfy {
                $0.type != .publicUser && $0.acceptanceStatus != .accepted
            }
    }

    /// The participants except the owner, with the properties that an owner can change.
    private var guests: Set<WireParticipant> {
        Set(
            participants.filter { $0.type != .owner }.map { guest in
                WireParticipant(
                    participantId: guest.participantId,
                    type: guest.type,
                    permission: guest.type == .publicUser ? nil : guest.permission,
                    acceptanceStatus: guest.acceptanceStatus,
                    userIdentity: nil
                )
            }
        )
    }

    /// Updates the participants after a change of the public permission.
    ///
    /// Opening the share to everyone ends unaccepted invitations; closing it removes the
    /// participants who joined through the link.
    ///
    /// - Parameter before: The previous share; nil for a new one, which includes its invitations.
    mutating func followPublicPermission(after before: SharePart?) {
        if !isPublic {
            participants.removeAll { $0.type == .publicUser }
        } else if before?.isPublic == false {
            participants.removeAll { participant in
                participant.type != .owner && participant.type != .publicUser
                    && participant.acceptanceStatus != .accepted
            }
        }
        for index in participants.indices where participants[index].type == .publicUser {
            participants[index].permission = publicPermission
        }
    }

    /// Returns the participants that a user may see.
    ///
    /// The owner sees all as they were invited, participants see all without the addresses of
    /// others, and a user who only has the link sees the owner.
    func participants(seenBy user: String?) -> [WireParticipant] {
        let owner = participants.first?.userIdentity?.userRecordName
        if let user, user == owner { return participants }
        let isGuest = participant(user) != nil
        return participants.filter { isGuest || $0.type == .owner }.map { participant in
            if let user, participant.userIdentity?.userRecordName == user { return participant }
            var participant = participant
            participant.userIdentity?.lookupInfo?.emailAddress = nil
            participant.userIdentity?.lookupInfo?.phoneNumber = nil
            return participant
        }
    }

    /// Writes the parts in addition to those of the record.
    func write(caller: String?, to writer: inout JSONWriter) throws {
        typealias Key = WireShare.CodingKeys
        let participants = participants(seenBy: caller)
        writer.member(WireRecord.CodingKeys.shortGUID, shortGUID)
        writer.member(Key.publicPermission, publicPermission.rawValue)
        writer.key(Key.participants)
        writer.json(try WireJSON.encode(participants))
        if let owner = participants.first {
            writer.key(Key.owner)
            writer.json(try WireJSON.encode(owner))
        }
        if let current = participants.first(where: {
            caller != nil && $0.userIdentity?.userRecordName == caller
        }) {
            writer.key(Key.currentUserParticipant)
            writer.json(try WireJSON.encode(current))
        }
    }
}
