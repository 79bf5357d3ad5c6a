import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Completion handlers of containers", .timeLimit(.minutes(10)))
struct ContainerCompletionTests: CompletionContract {
    private var old: any OldHandlers { HandlersOfOld() }

    /// Returns the account's status and error; the handler always has a status.
    private func status(_ device: CKContainer) async -> (CKAccountStatus, (any Error)?) {
        await withCheckedContinuation { continuation in
            device.accountStatus { continuation.resume(returning: ($0, $1)) }
        }
    }

    // MARK: The account

    @Test(
        "The account's status and the user's record are given, and without a user an error",
        arguments: CloudFixture.allCases
    )
    func account(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (ada, device) = try await cloud.person("Ada")
            let (available, noError) = await status(device)
            #expect(available == .available && noError == nil)
            let recordID = try await response { device.fetchUserRecordID(completionHandler: $0) }
            #expect(recordID.recordName == ada.recordName)

            let nobody = try await cloud.device(of: nil)
            let (none, stillNoError) = await status(nobody)
            #expect(none == .noAccount && stillNoError == nil)
            await expectCKError(.notAuthenticated) {
                try await response { nobody.fetchUserRecordID(completionHandler: $0) }
            }
            let unreachable = CKContainer(identifier: "iCloud.none")
            let (unknown, error) = await status(unreachable)
            #expect(unknown == .couldNotDetermine)
            #expect((error as? CKError)?.code == .badContainer)
        }
    }

    @Test(
        "A permission is neither granted nor denied, whether it is asked for or looked up",
        arguments: CloudFixture.allCases
    )
    func permissions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, device) = try await cloud.person("Ada")
            #expect(await old.permissions(device) == [.couldNotComplete, .couldNotComplete])
        }
    }

    @Test(
        "No operation outlives the process: there are none, and none is found",
        arguments: CloudFixture.allCases
    )
    func longLived(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, device) = try await cloud.person("Ada")
            let operationIDs = try await response {
                device.fetchAllLongLivedOperationIDs(completionHandler: $0)
            }
            #expect(operationIDs.isEmpty)
            let found = await withCheckedContinuation { continuation in
                device.fetchLongLivedOperation(withID: "unknown") { operation, error in
                    continuation.resume(returning: (operation == nil, error == nil))
                }
            }
            #expect(found == (true, true))
        }
    }

    // MARK: People

    @Test(
        "Someone is discovered by record, and who cannot be found by address is nobody",
        arguments: CloudFixture.allCases
    )
    func discovery(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, device) = try await cloud.person("Ada")
            let bob = CKRecord.ID(recordName: try await cloud.addUser("Bob").recordName)
            let missing = CKRecord.ID(recordName: "_nobody")
            let ones = try await old.discoverOne(bob, device)
            #expect(ones.map(\.?.userRecordID) == [bob, nil, nil])
            let several = try await old.discoverSeveral([bob, missing], device)
            #expect(several.records.keys.map(\.recordName) == [bob.recordName])
            #expect(several.records[bob]?.userRecordID == bob)
            #expect(several.addresses.isEmpty && several.numbers.isEmpty)
            #expect(try await old.discoverAll(device).isEmpty)
            let nobody = try await cloud.device(of: nil)
            await expectCKError(.notAuthenticated) {
                try await old.discoverSeveral([bob], nobody)
            }
        }
    }

    @Test(
        "One participant is found by record, address and number, and a missing user is an error",
        arguments: CloudFixture.allCases
    )
    func participant(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, device) = try await cloud.person("Ada")
            let bob = CKRecord.ID(recordName: try await cloud.addUser("Bob").recordName)
            let byRecord = try await response {
                device.fetchShareParticipant(withUserRecordID: bob, completionHandler: $0)
            }
            #expect(byRecord.userIdentity.userRecordID == bob)
            #expect(byRecord.role == .privateUser && byRecord.permission == .readOnly)
            let byAddress = try await response {
                device.fetchShareParticipant(
                    withEmailAddress: "new@example.com",
                    completionHandler: $0
                )
            }
            let found = byAddress.userIdentity
            #expect(found.lookupInfo?.emailAddress == "new@example.com")
            #expect(!found.hasiCloudAccount)
            let byNumber = try await response {
                device.fetchShareParticipant(withPhoneNumber: "555", completionHandler: $0)
            }
            #expect(byNumber.userIdentity.lookupInfo?.phoneNumber == "555")
            await expectCKError(.unknownItem) {
                try await response {
                    device.fetchShareParticipant(
                        withUserRecordID: CKRecord.ID(recordName: "_nobody"),
                        completionHandler: $0
                    )
                }
            }
        }
    }

    @Test(
        "Several participants are found, each with its result",
        arguments: CloudFixture.allCases
    )
    func participants(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (_, device) = try await cloud.person("Ada")
            let bob = CKRecord.ID(recordName: try await cloud.addUser("Bob").recordName)
            let missing = CKRecord.ID(recordName: "_nobody")
            let byRecord = try await result {
                device.fetchShareParticipants(
                    forUserRecordIDs: [bob, missing],
                    completionHandler: $0
                )
            }
            #expect(try byRecord[bob]?.get().userIdentity.userRecordID == bob)
            await expectCKError(.unknownItem) { try #require(byRecord[missing]).get() }
            let addresses = ["a@example.com", "b@example.com"]
            let byAddress = try await result {
                device.fetchShareParticipants(
                    forEmailAddresses: addresses,
                    completionHandler: $0
                )
            }
            #expect(byAddress.keys.sorted() == addresses)
            let byNumber = try await result {
                device.fetchShareParticipants(forPhoneNumbers: ["555"], completionHandler: $0)
            }
            let identity = try byNumber["555"]?.get().userIdentity
            #expect(identity?.lookupInfo?.phoneNumber == "555")
        }
    }

    // MARK: Shares

    @Test(
        "A link is looked up and its share accepted, and a link that leads nowhere is an error",
        arguments: CloudFixture.allCases
    )
    func share(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, device) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            let url = try #require(list.share.url)
            let metadata = try await response {
                device.fetchShareMetadata(with: url, completionHandler: $0)
            }
            #expect(metadata.hierarchicalRootRecordID?.recordName == "list")
            let share = try await response { device.accept(metadata, completionHandler: $0) }
            #expect(share.recordID.zoneID.ownerName == list.ada.recordName)
            let dead = try #require(URL(string: "https://www.icloud.com/share/0nothing"))
            await expectCKError(.unknownItem) {
                try await response {
                    device.fetchShareMetadata(with: dead, completionHandler: $0)
                }
            }
            try await list.database.deleteRecord(withID: list.share.recordID)
            await expectCKError(.unknownItem) {
                try await response { device.accept(metadata, completionHandler: $0) }
            }
        }
    }

    @Test(
        "Several links are looked up and their shares accepted, each with its result",
        arguments: CloudFixture.allCases
    )
    func shares(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (bob, device) = try await cloud.person("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob])
            let url = try #require(list.share.url)
            let dead = try #require(URL(string: "https://www.icloud.com/share/0nothing"))
            let found = try await result {
                device.fetchShareMetadatas(for: [url, dead], completionHandler: $0)
            }
            let metadata = try #require(found[url]).get()
            await expectCKError(.unknownItem) { try #require(found[dead]).get() }
            let accepted = try await result { device.accept([metadata], completionHandler: $0) }
            let share = try #require(accepted[metadata]).get()
            #expect(share.recordID.recordName == list.share.recordID.recordName)
            let zones = try await device.sharedCloudDatabase.allRecordZones()
            #expect(zones.map(\.zoneID) == [share.recordID.zoneID])
        }
    }
}

/// Calls deprecated methods without the warning: a witness may be deprecated.
private protocol OldHandlers {
    typealias Identities = (
        records: [CKRecord.ID: CKUserIdentity], addresses: [String: CKUserIdentity],
        numbers: [String: CKUserIdentity]
    )

    func permissions(_ device: CKContainer) async -> [CKContainer.ApplicationPermissionStatus]
    func discoverOne(
        _ person: CKRecord.ID,
        _ device: CKContainer
    ) async throws -> [CKUserIdentity?]
    func discoverSeveral(
        _ people: [CKRecord.ID],
        _ device: CKContainer
    ) async throws -> Identities
    func discoverAll(_ device: CKContainer) async throws -> [CKUserIdentity]
}

private struct HandlersOfOld: OldHandlers, CompletionContract {
    /// Returns the results of handlers that look up and request a permission.
    @available(*, deprecated)
    func permissions(_ device: CKContainer) async -> [CKContainer.ApplicationPermissionStatus] {
        [
            await withCheckedContinuation { continuation in
                device.status(forApplicationPermission: .userDiscoverability) { status, _ in
                    continuation.resume(returning: status)
                }
            },
            await withCheckedContinuation { continuation in
                device.requestApplicationPermission(.userDiscoverability) { status, _ in
                    continuation.resume(returning: status)
                }
            },
        ]
    }

    /// Looks up a user by record, and by an address and a number that no user has.
    @available(*, deprecated)
    func discoverOne(
        _ person: CKRecord.ID,
        _ device: CKContainer
    ) async throws -> [CKUserIdentity?] {
        [
            try await response {
                device.discoverUserIdentity(withUserRecordID: person, completionHandler: $0)
            },
            await withCheckedContinuation { continuation in
                device.discoverUserIdentity(withEmailAddress: "a@example.com") { identity, _ in
                    continuation.resume(returning: identity)
                }
            },
            await withCheckedContinuation { continuation in
                device.discoverUserIdentity(withPhoneNumber: "555") { identity, _ in
                    continuation.resume(returning: identity)
                }
            },
        ]
    }

    @available(*, deprecated)
    func discoverSeveral(
        _ people: [CKRecord.ID],
        _ device: CKContainer
    ) async throws -> Identities {
        (
            try await result {
                device.discoverUserIdentities(forUserRecordIDs: people, completionHandler: $0)
            },
            try await result {
                device.discoverUserIdentities(
                    forEmailAddresses: ["a@example.com"],
                    completionHandler: $0
                )
            },
            try await result {
                device.discoverUserIdentities(forPhoneNumbers: ["555"], completionHandler: $0)
            }
        )
    }

    @available(*, deprecated)
    func discoverAll(_ device: CKContainer) async throws -> [CKUserIdentity] {
        try await response { device.discoverAllIdentities(completionHandler: $0) }
    }
}
