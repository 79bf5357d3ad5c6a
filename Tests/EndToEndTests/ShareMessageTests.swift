import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Support
import Testing

/// The wire format of sharing and subscriptions, against a scripted service.
@Suite("Messages of sharing and subscriptions")
struct ShareMessageTests {
    private func device(
        _ responses: [String: String]
    ) -> (container: CKContainer, transport: ScriptedTransport) {
        let responses = responses.merging(["users/caller": #"{"userRecordName":"_ada"}"#]) { $1 }
        let transport = ScriptedTransport { request, _ in
            if let response = responses.first(where: { request.isAbout($0.key) }) {
                return .ok(response.value)
            }
            if request.isAbout("subscriptions/modify") {
                return try ScriptedTransport.echo(request)
            }
            return .refusal(404, #"{"serverErrorCode":"NOT_FOUND","reason":"\#(request.url)"}"#)
        }
        let container = CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: transport
            )
        )
        return (container, transport)
    }

    @Test("A share goes up with its root, and comes back with its link and participants")
    func save() async throws {
        let (container, transport) = device([
            "records/modify": """
            {"records":[
              {"recordName":"n1","recordType":"Note","recordChangeTag":"1","fields":{},
               "share":{"recordName":"s1"},"shortGUID":"root"},
              {"recordName":"s1","recordType":"cloudkit.share","recordChangeTag":"1","fields":{},
               "shortGUID":"0abc","publicPermission":"NONE","participants":[
                 {"type":"OWNER","permission":"READ_WRITE","acceptanceStatus":"ACCEPTED",
                  "participantId":"p1","userIdentity":{"userRecordName":"_ada"}},
                 {"type":"USER","permission":"READ_WRITE","acceptanceStatus":"INVITED",
                  "userIdentity":{"lookupInfo":{"emailAddress":"b@example.com"}}}]}]}
            """,
            "users/discover": #"{"users":[]}"#,
        ])
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let root = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "n1", zoneID: zoneID)
        )
        let share = CKShare(
            rootRecord: root,
            shareID: CKRecord.ID(recordName: "s1", zoneID: zoneID)
        )
        let guest = try await container.shareParticipant(forEmailAddress: "b@example.com")
        #expect(!guest.userIdentity.hasiCloudAccount)
        guest.permission = .readWrite
        share.addParticipant(guest)
        let (results, _) = try await container.privateCloudDatabase.modifyRecords(
            saving: [root, share],
            deleting: []
        )
        #expect(try results[share.recordID]?.get() === share)
        #expect(share.url?.absoluteString == "http://cloud.invalid/share/0abc")
        #expect(share.participants.map(\.role) == [.owner, .privateUser])
        #expect(share.currentUserParticipant?.participantID == "p1")
        #expect(share.participants.last?.acceptanceStatus == .pending)

        let operations = try #require(
            transport.body("records/modify")["operations"] as? [[String: Any]]
        )
        let records = operations.compactMap { $0["record"] as? [String: Any] }
        #expect(records[0]["createShortGUID"] as? Bool == true)
        #expect((records[1]["forRecord"] as? [String: Any])?["recordName"] as? String == "n1")
        #expect(records[1]["publicPermission"] as? String == "NONE")
        let sent = records[1]["participants"] as? [[String: Any]] ?? []
        #expect(sent.map { $0["permission"] as? String } == ["READ_WRITE"])
    }

    @Test("A new share without its root is refused before anything is sent")
    func rootless() async throws {
        let (container, transport) = device([:])
        let root = CKRecord(recordType: "Note")
        do {
            try await container.privateCloudDatabase.save(CKShare(rootRecord: root))
            Issue.record("a share was saved without its root")
        } catch let error as CKError {
            #expect(error.code == .invalidArguments)
        }
        #expect(transport.body("records/modify").isEmpty)
    }

    @Test("A link is resolved and accepted by its last part")
    func accept() async throws {
        let response = """
            {"results":[{"shortGUID":{"value":"0abc"},"containerIdentifier":"iCloud.test",
             "databaseScope":"SHARED","zoneID":{"zoneName":"Notes","ownerRecordName":"_bob"},
             "share":{"recordName":"s1","recordType":"cloudkit.share","fields":{}},
             "rootRecordName":"n1","participantType":"USER","participantStatus":"INVITED",
             "participantPermission":"READ_WRITE","ownerIdentity":{"userRecordName":"_bob"}}]}
            """
        let (container, transport) = device([
            "records/resolve": response, "records/accept": response,
        ])
        let url = try #require(URL(string: "https://www.icloud.com/share/0abc#Notes"))
        let metadata = try await container.shareMetadata(for: url)
        #expect(metadata.hierarchicalRootRecordID?.zoneID.ownerName == "_bob")
        #expect(metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        #expect(metadata.ownerIdentity.userRecordID?.recordName == "_bob")
        let share = try await container.accept(metadata)
        #expect(share.recordID.recordName == "s1")
        let accepted = transport.body("records/accept")["shortGUIDs"] as? [[String: Any]]
        #expect(accepted?.first?["value"] as? String == "0abc")
    }

    @Test("Subscriptions of all kinds are written, and read back as the same")
    func subscriptions() async throws {
        let (container, _) = device([:])
        let database = container.privateCloudDatabase
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "age > 3"),
            subscriptionID: "q",
            options: [.firesOnRecordUpdate, .firesOnce]
        )
        let zone = CKRecordZoneSubscription(
            zoneID: CKRecordZone.ID(zoneName: "Notes"),
            subscriptionID: "z"
        )
        let all = CKDatabaseSubscription(subscriptionID: "d")
        for subscription in [query, zone, all] {
            subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        }
        let (saved, _) = try await database.modifySubscriptions(
            saving: [query, zone, all],
            deleting: []
        )
        let read = try #require(try saved["q"]?.get() as? CKQuerySubscription)
        #expect(read.querySubscriptionOptions == [.firesOnRecordUpdate, .firesOnce])
        #expect(read.predicate.evaluate(with: ["age": 4]))
        #expect(!read.predicate.evaluate(with: ["age": 3]))
        #expect(read.notificationInfo?.shouldSendContentAvailable == true)
        #expect(try saved["z"]?.get() is CKRecordZoneSubscription)
        #expect(try saved["d"]?.get() is CKDatabaseSubscription)
        do {
            try await container.publicCloudDatabase.save(all)
            Issue.record("the public database took a database subscription")
        } catch let error as CKError {
            #expect(error.code == .badDatabase)
        }
    }
}

extension ScriptedTransport {
    /// Returns the last message that was sent to an endpoint.
    fileprivate func body(_ endpoint: String) -> [String: Any] {
        let data = requests(about: endpoint).last?.body ?? Data()
        return (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
    }

    /// Responds to a request for subscriptions with its own contents.
    fileprivate static func echo(_ request: TransportRequest) throws -> TransportResponse {
        let body = try JSONSerialization.jsonObject(with: request.body ?? Data())
        let operations = (body as? [String: Any])?["operations"] as? [[String: Any]] ?? []
        let response = ["subscriptions": operations.compactMap { $0["subscription"] }]
        return TransportResponse(
            status: 200,
            body: try JSONSerialization.data(withJSONObject: response)
        )
    }
}
