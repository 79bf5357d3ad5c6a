import CloudKitWire
import Foundation

/// The mapping between the parts of shares in the API and on the wire.
struct ShareMapping: Sendable {
    let owners: OwnerMapping
    /// The beginning of the service's share links.
    let linkBase: String

    // MARK: From the wire

    /// Returns the parts of a share's record; members missing from the response keep their values.
    func native(_ wire: WireRecord, previous: ShareParts? = nil) -> ShareParts {
        var parts =
            previous ?? ShareParts(publicPermission: .none, participants: [], currentUser: nil)
        if let share = wire.shareParts {
            var participants = (share.participants ?? []).map(participant)
            if let owner = share.owner.map(participant),
                !participants.contains(where: { $0.role == .owner })
            {
                participants.insert(owner, at: 0)
            }
            let current =
                share.currentUserParticipant.map(participant)
                ?? participants.first {
                    $0.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName
                }
            let root = parts.rootRecordID
            parts = ShareParts(
                publicPermission: share.publicPermission?.native ?? .none,
                participants: participants.isEmpty ? parts.participants : participants,
                currentUser: current ?? parts.currentUser
            )
            parts.rootRecordID = root
        }
        parts.shortGUID = wire.shortGUID ?? previous?.shortGUID
        parts.linkBase = linkBase
        return parts
    }

    private func participant(_ wire: WireParticipant) -> CKShareParticipant {
        CKShareParticipant(
            identity(wire.userIdentity),
            id: wire.participantId ?? wire.userIdentity?.userRecordName ?? UUID().uuidString,
            role: wire.type?.native ?? .unknown,
            permission: wire.permission?.native ?? .unknown,
            status: wire.acceptanceStatus?.native ?? .unknown
        )
    }

    /// Returns a user's identity.
    func identity(_ wire: ParticipantIdentity?) -> CKUserIdentity {
        let name = wire?.nameComponents.map { name in
            var components = PersonNameComponents()
            components.givenName = name.givenName
            components.familyName = name.familyName
            return components
        }
        return CKUserIdentity(
            .init(
                lookupInfo: wire?.lookupInfo.flatMap(CKUserIdentity.LookupInfo.make),
                nameComponents: name,
                userRecordID: owners.userRecordID(wire?.userRecordName)
            )
        )
    }

    // MARK: To the wire

    /// Returns the parts of a share for a request.
    func wire(_ share: CKShare) -> WireShare {
        let parts = share.parts
        return WireShare(
            forRecord: share.recordChangeTag == nil
                ? parts.rootRecordID.map {
                    WireShare.Root(recordName: $0.recordName, recordChangeTag: parts.rootTag)
                } : nil,
            publicPermission: parts.publicPermission.wire,
            // The owner is the user who saves; the service knows.
            participants: parts.participants.filter { $0.role != .owner }.map(wire)
        )
    }

    private func wire(_ participant: CKShareParticipant) -> WireParticipant {
        let user = participant.userIdentity
        let name = user.userRecordID?.recordName
        return WireParticipant(
            participantId: participant.participantID,
            type: participant.role.wire,
            permission: participant.permission.wire,
            acceptanceStatus: participant.acceptanceStatus.wire,
            userIdentity: ParticipantIdentity(
                userRecordName: name == CKCurrentUserDefaultName ? owners.caller : name,
                lookupInfo: user.lookupInfo?.wire
            )
        )
    }
}

extension CKUserIdentityLookupInfo {
    /// Returns the API's form; nil for a key without a value.
    static func make(_ wire: UserIdentity.LookupInfo) -> CKUserIdentityLookupInfo? {
        if let address = wire.emailAddress { return .init(emailAddress: address) }
        if let number = wire.phoneNumber { return .init(phoneNumber: number) }
        guard let name = wire.userRecordName, !name.isEmpty else { return nil }
        return .init(userRecordID: CKRecord.ID(recordName: name))
    }

    /// The wire's form.
    var wire: UserIdentity.LookupInfo {
        switch key {
        case .email(let address): .init(emailAddress: address)
        case .phone(let number): .init(phoneNumber: number)
        case .record(let recordID): .init(userRecordName: recordID.recordName)
        }
    }
}
