import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("Operations for shares and people, run against a service", .timeLimit(.minutes(10)))
struct OperationContractTests: OperationContract {
    /// Returns a link that leads nowhere.
    private func deadLink() throws -> URL {
        try #require(URL(string: "https://www.icloud.com/share/0nothing"))
    }

    /// Shares one list for each name; anyone with a link may read.
    private func share(_ names: [String], from owner: CKContainer) async throws -> [CKShare] {
        let database = owner.privateCloudDatabase
        try await database.save(Self.zone)
        var shares: [CKShare] = []
        for name in names {
            let root = CKRecord(
                recordType: "List",
                recordID: CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
            )
            root["title"] = name
            root["comment"] = "by Ada"
            let share = CKShare(rootRecord: root)
            share.publicPermission = .readOnly
            let (results, _) = try await database.modifyRecords(
                saving: [root, share],
                deleting: []
            )
            for record in [root, share] { _ = try results[record.recordID]?.get() }
            shares.append(share)
        }
        return shares
    }

    /// Returns two invitations, of which the second is withdrawn before it is accepted.
    private func invitations(
        from owner: CKContainer,
        to guest: CKContainer
    ) async throws -> [CKShare.Metadata] {
        let shares = try await share(["kept", "gone"], from: owner)
        var metadatas: [CKShare.Metadata] = []
        for share in shares {
            metadatas.append(try await guest.shareMetadata(for: try #require(share.url)))
        }
        let gone = try #require(shares.last)
        try await owner.privateCloudDatabase.deleteRecord(withID: gone.recordID)
        return metadatas
    }

    // MARK: Shares

    @Test(
        "Metadata of links comes before the result, with the root record, and a dead link fails",
        arguments: CloudFixture.allCases
    )
    func shareMetadata(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let url = try #require(try await share(["list"], from: ada).first?.url)
            let dead = try deadLink()
            let log = Log()
            let operation = CKFetchShareMetadataOperation(shareURLs: [url, dead])
            operation.shouldFetchRootRecord = true
            operation.rootRecordDesiredKeys = ["title"]
            operation.perShareMetadataResultBlock = { link, result in
                log.note("\(link == url ? "list" : "dead") \(word(result))")
                guard let root = try? result.get().rootRecord else { return }
                log.note("\(root.recordID.recordName) \(root.allKeys().joined())")
            }
            operation.fetchShareMetadataResultBlock = { log.note("result \(word($0))") }
            await run(operation, log) { bob.add($0) }
            #expect(
                log.all == [
                    "list ok", "list title", "dead unknownItem", "result ok", "completion",
                ]
            )
        }
    }

    @Test(
        "Old blocks get metadata without the record, and a partialFailure that names the dead link",
        arguments: CloudFixture.allCases
    )
    func oldShareMetadata(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let url = try #require(try await share(["list"], from: ada).first?.url)
            let dead = try deadLink()
            let log = Log()
            await run(old.metadata(url, dead: dead, log), log) { bob.add($0) }
            #expect(
                log.all == [
                    "item list false none", "item - false unknownItem",
                    "partialFailure 1 unknownItem", "completion",
                ]
            )
        }
    }

    @Test(
        "Invitations are accepted one by one before the result, and one withdrawn fails alone",
        arguments: CloudFixture.allCases
    )
    func accept(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let operation = CKAcceptSharesOperation(
                shareMetadatas: try await invitations(from: ada, to: bob)
            )
            let log = Log()
            operation.perShareResultBlock = { metadata, result in
                let name = metadata.hierarchicalRootRecordID?.recordName ?? "-"
                log.note("\(name) \(word(result))")
            }
            operation.acceptSharesResultBlock = { log.note("result \(word($0))") }
            await run(operation, log) { bob.add($0) }
            #expect(log.all == ["kept ok", "gone unknownItem", "result ok", "completion"])
            let zones = try await bob.sharedCloudDatabase.allRecordZones()
            #expect(zones.contains { $0.zoneID.zoneName == "Lists" })
        }
    }

    @Test(
        "Old blocks get a partialFailure that names the invitation, in a queue of the app's too",
        arguments: CloudFixture.allCases
    )
    func oldAccept(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let metadatas = try await invitations(from: ada, to: bob)
            let gone = try #require(metadatas.last)
            let log = Log()
            let operation = old.accept(metadatas, failing: gone, log)
            operation.configuration.container = bob
            let queue = OperationQueue()
            await run(operation, log) { queue.addOperation($0) }
            #expect(
                log.all == [
                    "kept true none", "gone false unknownItem", "partialFailure 1 unknownItem",
                    "completion",
                ]
            )
        }
    }

    // MARK: People

    @Test(
        "Participants are found one by one before the result, and a user who is not there fails",
        arguments: CloudFixture.allCases
    )
    func participants(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.addUser("Bob")
            let name = bob.recordName
            let operation = CKFetchShareParticipantsOperation(
                userIdentityLookupInfos: [
                    .init(userRecordID: CKRecord.ID(recordName: name)),
                    .init(emailAddress: "new@example.com"),
                    .init(userRecordID: CKRecord.ID(recordName: "_nobody")),
                ]
            )
            let log = Log()
            operation.perShareParticipantResultBlock = { info, result in
                let identity = try? result.get().userIdentity
                let isBob = identity?.userRecordID?.recordName == name
                log.note("\(info.emailAddress ?? "record") \(isBob) \(word(result))")
            }
            operation.fetchShareParticipantsResultBlock = { log.note("result \(word($0))") }
            await run(operation, log) { ada.add($0) }
            #expect(
                log.all == [
                    "record true ok", "new@example.com false ok", "record false unknownItem",
                    "result ok", "completion",
                ]
            )
        }
    }

    @Test(
        "Old blocks get who was found, and a partialFailure that names who was not",
        arguments: CloudFixture.allCases
    )
    func oldParticipants(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = CKRecord.ID(recordName: try await cloud.addUser("Bob").recordName)
            let missing = CKUserIdentity.LookupInfo(
                userRecordID: CKRecord.ID(recordName: "_nobody")
            )
            let log = Log()
            await run(old.participants(bob, missing: missing, log), log) { ada.add($0) }
            #expect(log.all == ["found true", "partialFailure 1 unknownItem", "completion"])
        }
    }

    @Test(
        "People are discovered before the result, and who is not found is no failure",
        arguments: CloudFixture.allCases
    )
    func discovery(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = CKRecord.ID(recordName: try await cloud.addUser("Bob").recordName)
            let infos: [CKUserIdentity.LookupInfo] = [
                .init(emailAddress: "nobody@example.com"), .init(userRecordID: bob),
            ]
            let log = Log()
            let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
            operation.userIdentityDiscoveredBlock = { identity, info in
                let isBob = identity.userRecordID?.recordName == bob.recordName
                log.note("found \(isBob) \(info == infos[1])")
            }
            operation.discoverUserIdentitiesResultBlock = { log.note("result \(word($0))") }
            await run(operation, log) { ada.add($0) }
            #expect(log.all == ["found true true", "result ok", "completion"])

            let oldLog = Log()
            await run(old.discovery(infos, oldLog), oldLog) { ada.add($0) }
            #expect(oldLog.all == ["end none", "completion"])
        }
    }

    @Test(
        "Without a user people are not discovered, and the whole fails",
        arguments: CloudFixture.allCases
    )
    func discoveryByNobody(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let device = try await cloud.device(of: nil)
            let log = Log()
            let operation = CKDiscoverUserIdentitiesOperation(
                userIdentityLookupInfos: [.init(emailAddress: "bob@example.com")]
            )
            operation.userIdentityDiscoveredBlock = { _, _ in log.note("found") }
            operation.discoverUserIdentitiesResultBlock = { log.note("result \(word($0))") }
            await run(operation, log) { device.add($0) }
            #expect(log.all == ["result notAuthenticated", "completion"])
        }
    }

    @Test(
        "The address book is empty, and looking into it succeeds",
        arguments: CloudFixture.allCases
    )
    func addressBook(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let (log, oldLog) = (Log(), Log())
            await run(old.everybody(log), log) { ada.add($0) }
            #expect(log.all == ["result ok", "completion"])
            await run(old.everybodyOfOld(oldLog), oldLog) { ada.add($0) }
            #expect(oldLog.all == ["end none", "completion"])
        }
    }

    @Test(
        "A web auth token is given for the container's own API token, and for no other",
        arguments: CloudFixture.allCases
    )
    func webAuthToken(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let client = try await cloud.client(of: try await cloud.addUser())
            let database = CKContainer(client: client).privateCloudDatabase
            let credentials = client.credentials
            for (apiToken, response) in [
                (credentials.apiToken, "token"), ("another", "permissionFailure"),
            ] {
                let log = Log()
                let operation = CKFetchWebAuthTokenOperation(apiToken: apiToken)
                operation.database = database
                operation.fetchWebAuthTokenResultBlock = { result in
                    let isToken = (try? result.get()) == credentials.webAuthToken
                    log.note(isToken ? "token" : word(result))
                }
                let queue = OperationQueue()
                await run(operation, log) { queue.addOperation($0) }
                #expect(log.all == [response, "completion"])
            }
            let log = Log()
            let operation = old.webAuthToken("another", log)
            await run(operation, on: database, log)
            #expect(log.all == ["false permissionFailure", "completion"])
        }
    }
}
