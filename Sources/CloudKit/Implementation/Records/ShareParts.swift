import Foundation

/// The members that a share has in addition to those of a record.
struct ShareParts: Sendable {
    /// The shared record; nil for a share of a whole zone, or if the server does not report it.
    var rootRecordID: CKRecord.ID?
    /// The version of the shared record when the share was created.
    var rootTag: String?
    /// The last part of the link.
    var shortGUID: String?
    /// The beginning of the service's share links.
    var linkBase: String?
    private(set) var publicPermission: CKShare.ParticipantPermission = .none
    private(set) var participants: [CKShareParticipant]
    /// The current user as a participant of a share that came from the server.
    private(set) var currentUser: CKShareParticipant?

    /// Creates the parts of a new share, which the current user owns.
    init(rootRecordID: CKRecord.ID? = nil, rootTag: String? = nil) {
        self.rootRecordID = rootRecordID
        self.rootTag = rootTag
        let user = CKUserIdentity(
            .init(userRecordID: CKRecord.ID(recordName: CKCurrentUserDefaultName))
        )
        let owner = CKShareParticipant(
            user,
            role: .owner,
            permission: .readWrite,
            status: .accepted
        )
        participants = [owner]
        currentUser = owner
    }

    /// Creates the parts of a share that came from the server or an archive.
    init(
        publicPermission: CKShare.ParticipantPermission,
        participants: [CKShareParticipant],
        currentUser: CKShareParticipant?
    ) {
        self.publicPermission = publicPermission
        self.participants = participants
        self.currentUser = currentUser
    }

    /// The owner of the share; if it has none, which the service does not send, an unknown one.
    var owner: CKShareParticipant {
        participants.first { $0.role == .owner }
            ?? CKShareParticipant(
                CKUserIdentity(.init()),
                role: .owner,
                permission: .readWrite,
                status: .unknown
            )
    }

    /// The link: the base, the short ID and the title of nothing in particular.
    var url: URL? {
        guard let shortGUID, let linkBase else { return nil }
        return URL(string: "\(linkBase)/share/\(shortGUID)")
    }

    mutating func setPublicPermission(_ permission: CKShare.ParticipantPermission) {
        publicPermission = permission
        participants.removeAll { participant in
            permission == .none
                ? participant.role == .publicUser
                : participant.role == .privateUser && participant.acceptanceStatus == .pending
        }
    }

    mutating func add(_ participant: CKShareParticipant) {
        if let index = participants.firstIndex(where: { $0.isEqual(participant) }) {
            participants[index] = participant
        } else {
            participants.append(participant)
        }
    }

    mutating func remove(_ participant: CKShareParticipant) {
        participants.removeAll { $0.isEqual(participant) && $0.role != .owner }
    }

    /// Returns parts whose participants are independent of these.
    func copy() -> ShareParts {
        var copy = self
        copy.participants = participants.map(\.independent)
        copy.currentUser = currentUser.map(\.independent)
        return copy
    }
}

extension CKShareParticipant {
    fileprivate var independent: CKShareParticipant {
        CKShareParticipant(
            userIdentity,
            id: participantID,
            role: role,
            permission: permission,
            status: acceptanceStatus
        )
    }
}
