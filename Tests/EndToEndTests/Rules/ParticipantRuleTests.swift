import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Rules: participants of shares")
struct ParticipantRuleTests {
    /// Returns the names of the participants except the owner.
    private func guests(_ share: CKShare) -> [String?] {
        share.participants.filter { $0.role != .owner }
            .map(\.userIdentity.userRecordID?.recordName)
    }

    /// Changes the item of the list as a participant.
    private func write(_ guest: CKContainer, in zoneID: CKRecordZone.ID) async throws {
        let database = guest.sharedCloudDatabase
        let item = try await database.record(
            for: CKRecord.ID(recordName: "milk", zoneID: zoneID)
        )
        item["count"] = (item["count"] as? Int ?? 0) + 1
        try await database.save(item)
    }

    // MARK: By invitation

    @Test(
        "A link that is not for everyone lets in who is invited, and nobody else",
        arguments: CloudFixture.allCases
    )
    func invitation(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let (_, stranger) = try await cloud.person("Eve")
            let list = try await SharedList(in: cloud, inviting: [bob], to: .readOnly)
            #expect(list.share.participants.map(\.role) == [.owner, .privateUser])
            #expect(list.share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
            let url = try #require(list.share.url)
            await expectCKError(.permissionFailure) {
                try await stranger.shareMetadata(for: url)
            }
            let metadata = try await phone.shareMetadata(for: url)
            #expect(metadata.participantRole == .privateUser)
            #expect(metadata.participantStatus == .pending)
            #expect(metadata.participantPermission == .readOnly)
            await expectCKError(.permissionFailure) { try await stranger.accept(metadata) }
            #expect(try await stranger.sharedCloudDatabase.allRecordZones().isEmpty)

            let accepted = try await phone.accept(metadata)
            #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
            let share = try await list.current()
            #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
            #expect(guests(share) == [bob.recordName])
        }
    }

    @Test(
        "What an invited participant may do follows the permission, and ends with the part",
        arguments: CloudFixture.allCases
    )
    func permission(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob], to: .readOnly)
            let zoneID = try await list.admit(phone)
            for (permission, code) in [
                (CKShare.ParticipantPermission.readWrite, nil),
                (.readOnly, CKError.Code.permissionFailure),
            ] {
                try await list.change { share in
                    for guest in share.participants where guest.role == .privateUser {
                        guest.permission = permission
                    }
                }
                guard let code else {
                    try await write(phone, in: zoneID)
                    continue
                }
                await expectCKError(code) { try await write(phone, in: zoneID) }
            }
            try await list.change { share in
                for guest in share.participants where guest.role == .privateUser {
                    share.removeParticipant(guest)
                }
            }
            await expectCKError(.zoneNotFound) { try await write(phone, in: zoneID) }
            #expect(try await list.current().participants.map(\.role) == [.owner])
        }
    }

    // MARK: By link

    @Test(
        "Letting everyone in removes the invited who have not come; who has come stays",
        arguments: CloudFixture.allCases
    )
    func lettingIn(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let (cleo, tablet) = try await cloud.person("Cleo")
            let list = try await SharedList(in: cloud, inviting: [bob, cleo])
            let zoneID = try await list.admit(phone)
            try await list.change { share in
                #expect(guests(share) == [bob.recordName, cleo.recordName])
                share.publicPermission = .readOnly
                #expect(guests(share) == [bob.recordName])
            }
            let share = try await list.current()
            #expect(share.publicPermission == .readOnly)
            #expect(guests(share) == [bob.recordName])
            try await write(phone, in: zoneID)

            // The link is now open to her as to anyone.
            _ = try await list.admit(tablet)
            await expectCKError(.permissionFailure) { try await write(tablet, in: zoneID) }
            let roles = try await list.current().participants.map(\.role)
            #expect(roles == [.owner, .privateUser, .publicUser])
        }
    }

    @Test(
        "Letting nobody in any more removes who came through the link",
        arguments: CloudFixture.allCases
    )
    func shuttingOut(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, publicPermission: .readWrite)
            let zoneID = try await list.admit(phone)
            try await list.change { share in
                #expect(share.participants.map(\.role) == [.owner, .publicUser])
                #expect(guests(share) == [bob.recordName])
                share.publicPermission = .none
                #expect(share.participants.map(\.role) == [.owner])
            }
            #expect(try await list.current().participants.map(\.role) == [.owner])
            await expectCKError(.zoneNotFound) { try await write(phone, in: zoneID) }
            let url = try #require(list.share.url)
            await expectCKError(.permissionFailure) { try await phone.shareMetadata(for: url) }
        }
    }

    @Test(
        "A user who came through the link may do what everyone may now, not what everyone might then",
        arguments: CloudFixture.allCases
    )
    func everyone(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, phone) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, publicPermission: .readWrite)
            let zoneID = try await list.admit(phone)
            try await write(phone, in: zoneID)
            try await list.change { $0.publicPermission = .readOnly }
            await expectCKError(.permissionFailure) { try await write(phone, in: zoneID) }
            try await list.change { $0.publicPermission = .readWrite }
            try await write(phone, in: zoneID)
        }
    }

    /// The changes that an owner may want to make to participants.
    enum Edit: CaseIterable {
        case permission
        case removal
        case addition
    }

    @Test(
        "As long as everyone is let in, the participants cannot be edited",
        arguments: CloudFixture.allCases,
        Edit.allCases
    )
    func locked(fixture: CloudFixture, edit: Edit) async throws {
        try await fixture.run { cloud in
            let (bob, phone) = try await cloud.person("Bob")
            let cleo = try await cloud.addUser("Cleo")
            let list = try await SharedList(in: cloud, inviting: [bob], to: .readOnly)
            _ = try await list.admit(phone)
            try await list.change { $0.publicPermission = .readOnly }

            let share = try await list.current()
            let guest = try #require(share.participants.last)
            switch edit {
            case .permission: guest.permission = .readWrite
            case .removal: share.removeParticipant(guest)
            case .addition: share.addParticipant(try await list.participant(cleo))
            }
            // Whether the edit is ignored or the save is refused is unknown.
            _ = try? await list.database.save(share)
            let kept = try await list.current()
            #expect(guests(kept) == [bob.recordName])
            #expect(kept.participants.last?.permission == .readOnly)
        }
    }
}
