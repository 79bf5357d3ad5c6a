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

    /// Whether everyone with the link may come.
    var isPublic: Bool { publicPermission == .readOnly || publicPermission == .readWrite }

    /// What a participant was given: who came through the link may do what everyone may now.
    func permission(of participant: WireParticipant) -> WireParticipant.Permission {
        participant.type == .publicUser ? publicPermission : participant.permission ?? .none
    }

    /// What the share lets a user do; nil when the user has not accepted.
    func opening(for user: String, share: String) -> ZoneAccess.Opening? {
        guard let participant = participant(user), participant.acceptanceStatus == .accepted else {
            return nil
        }
        return preview(for: user, share: share)
    }

    /// What the share lets those do who have accepted it, by the names of the users.
    func openings(share: String) -> [String: ZoneAccess.Opening] {
        var seen: Set<String> = []
        var openings: [String: ZoneAccess.Opening] = [:]
        for participant in participants {
            // The first of a name counts, as where one user is looked up.
            guard let user = participant.userIdentity?.userRecordName,
                seen.insert(user).inserted, participant.acceptanceStatus == .accepted
            else { continue }
            openings[user] = preview(of: participant, share: share)
        }
        return openings
    }

    /// What the share would let a user do who accepts it; nil when it lets the user do nothing.
    func preview(for user: String?, share: String) -> ZoneAccess.Opening? {
        preview(of: participant(user), share: share)
    }

    private func preview(of participant: WireParticipant?, share: String) -> ZoneAccess.Opening? {
        // Who was invited may do what everyone may, too.
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

    /// Lets a user in who was invited, or who has the link of a share for everyone.
    ///
    /// - Throws: `RequestError` when the share has as many participants as it may have.
    mutating func accept(_ user: StoredUser) throws {
        if let index = participants.firstIndex(where: {
            $0.userIdentity?.userRecordName == user.recordName
        }) {
            participants[index].acceptanceStatus = .accepted
            return
        }
        // The owner could not save the share any more with one more participant.
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

    /// Whether other participants are this share's: nobody is new or may do something else, and
    /// only invitations are gone of which nothing came yet.
    func hasSameParticipants(as other: SharePart) -> Bool {
        let (guests, others) = (guests, other.guests)
        return others.isSubset(of: guests)
            && guests.subtracting(others).allSatisfy {
                $0.type != .publicUser && $0.acceptanceStatus != .accepted
            }
    }

    /// Those who take part besides the owner, with what an owner can change of them.
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

    /// Lets who takes part follow what everyone may do now.
    ///
    /// Letting everyone in ends the invitations of those who have not come; letting nobody in ends
    /// the parts of those who came through the link.
    ///
    /// - Parameter before: The share as it was; nil for a new one, whose invitations come with it.
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

    /// What of the participants a user may see: the owner everybody as they were invited, who takes
    /// part everybody without the addresses of others, and who only has the link the owner.
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

    /// Writes the parts beside those of the record.
    func write(caller: String?, to writer: inout JSONWriter) throws {
        let participants = participants(seenBy: caller)
        writer.member("shortGUID", shortGUID)
        writer.member("publicPermission", publicPermission.rawValue)
        writer.key("participants")
        writer.json(try WireJSON.encode(participants))
        if let owner = participants.first {
            writer.key("owner")
            writer.json(try WireJSON.encode(owner))
        }
        if let current = participants.first(where: {
            caller != nil && $0.userIdentity?.userRecordName == caller
        }) {
            writer.key("currentUserParticipant")
            writer.json(try WireJSON.encode(current))
        }
    }
}
