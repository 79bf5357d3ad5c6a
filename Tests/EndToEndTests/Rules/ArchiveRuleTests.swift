import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: equality and archives")
struct ArchiveRuleTests {
    private func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object,
            requiringSecureCoding: true
        )
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        )
    }

    @Test(
        "A query that was archived finds the same records in the same order",
        arguments: CloudFixture.allCases
    )
    func queries(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let zone = try await database.save(CKRecordZone(zoneName: "People"))
            let people = ["Ada", "Bob", "Bea"].enumerated().map { index, name in
                let record = CKRecord(
                    recordType: "Person",
                    recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID)
                )
                record["name"] = name
                record["age"] = 20 + index
                return record
            }
            _ = try await database.modifyRecords(saving: people, deleting: [])
            let query = CKQuery(
                recordType: "Person",
                predicate: NSPredicate(format: "age > %d AND name BEGINSWITH %@", 18, "B")
            )
            query.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            let read = try archived(query)
            #expect(read.recordType == "Person" && read.sortDescriptors?.count == 1)
            for query in [query, read] {
                let (matches, _) = try await database.records(
                    matching: query,
                    inZoneWith: zone.zoneID
                )
                #expect(matches.map(\.0.recordName) == ["Bea", "Bob"])
            }
            let nothing = CKQuery(recordType: "Person", predicate: NSPredicate(value: false))
            let (matches, _) = try await database.records(
                matching: try archived(nothing),
                inZoneWith: zone.zoneID
            )
            #expect(matches.isEmpty)
        }
    }

    @Test(
        "A record that was archived still sends its pending changes, a removed parent among them",
        arguments: CloudFixture.allCases
    )
    func pendingChanges(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: SharedList.zoneID))
            let parent = SharedList.record("parent")
            let child = SharedList.record("child")
            child["title"] = "a"
            child["comment"] = "b"
            child.setParent(parent)
            try await SharedList.save([parent, child], in: database)
            child["title"] = "changed"
            child["comment"] = nil
            child.parent = nil
            let read = try archived(child)
            #expect(read.changedKeys().sorted() == ["comment", "title"] && read.parent == nil)
            try await database.save(read)
            let now = try await database.record(for: child.recordID)
            #expect(now["title"] == "changed" && now.allKeys() == ["title"])
            #expect(now.parent == nil)
        }
    }

    @Test("A record's files are archived by their places, with what changed besides")
    func files() throws {
        let record = CKRecord(recordType: "Photo")
        let places = ["sea", "hill"].map { URL(fileURLWithPath: "/photos/\($0).jpg") }
        record["file"] = CKAsset(fileURL: places[0])
        record["files"] = places.map { CKAsset(fileURL: $0) }
        record["title"] = nil
        let read = try archived(record)
        #expect((read["file"] as? CKAsset)?.fileURL == places[0])
        #expect((read["files"] as? [CKAsset])?.map(\.fileURL) == places)
        #expect(read.changedKeys().sorted() == ["file", "files", "title"])
    }

    @Test("A group of operations keeps its identity, name, quantity and sizes in an archive")
    func groups() throws {
        let group = CKOperationGroup()
        group.name = "Import"
        group.quantity = 200
        group.expectedSendSize = .megabytes
        group.expectedReceiveSize = .kilobytes
        let read = try archived(group)
        #expect(read.operationGroupID == group.operationGroupID)
        #expect(read.name == "Import" && read.quantity == 200)
        #expect(read.expectedSendSize == .megabytes && read.expectedReceiveSize == .kilobytes)
        #expect(CKOperationGroup().operationGroupID != group.operationGroupID)
        #expect(CKOperationGroup().expectedSendSize == .unknown)
    }

    @Test(
        "A share that was archived has its link and participants, and is saved as itself",
        arguments: CloudFixture.allCases
    )
    func shares(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let bob = try await cloud.addUser("Bob")
            let list = try await SharedList(in: cloud, inviting: [bob], to: .readOnly)
            let read = try archived(list.share)
            #expect(read.url != nil && read.url == list.share.url)
            #expect(read.recordChangeTag == list.share.recordChangeTag)
            #expect(read.participants.map(\.role) == [.owner, .privateUser])
            #expect(read.participants.last?.permission == .readOnly)
            read[CKShare.SystemFieldKey.title] = "Shopping"
            try await list.database.save(read)
            let share = try await list.current()
            #expect(share[CKShare.SystemFieldKey.title] == "Shopping")
            #expect(share.participants.map(\.role) == [.owner, .privateUser])
        }
    }

    @Test(
        "A record is equal to itself only, an identity to every one of its name and zone",
        arguments: CloudFixture.allCases
    )
    func equality(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let recordID = CKRecord.ID(recordName: "n")
            try await database.save(CKRecord(recordType: "Note", recordID: recordID))
            let first = try await database.record(for: recordID)
            let second = try await database.record(for: recordID)
            #expect(first == first && first != second)
            #expect(Set([recordID, first.recordID, second.recordID]).count == 1)
            #expect(Set([first.recordID.zoneID, CKRecordZone.ID.default]).count == 1)
            let elsewhere = CKRecord.ID(
                recordName: "n",
                zoneID: CKRecordZone.ID(zoneName: "Notes")
            )
            #expect(recordID != elsewhere && recordID != CKRecord.ID(recordName: "m"))
            let references = [first, second].map { CKRecord.Reference(record: $0, action: .none) }
            #expect(references[0] == references[1] && Set(references).count == 1)
        }
    }

    @Test("Nothing is Codable but the state of a sync engine")
    func codable() {
        let types: [Any.Type] = [
            CKRecord.self, CKRecord.ID.self, CKRecord.Reference.self, CKAsset.self,
            CKRecordZone.self, CKRecordZone.ID.self, CKServerChangeToken.self, CKQuery.self,
            CKQueryOperation.Cursor.self, CKQuerySubscription.self, CKOperationGroup.self,
            CKShare.self, CKShare.Participant.self, CKShare.Metadata.self,
        ]
        for type in types {
            #expect(!(type is any Encodable.Type) && !(type is any Decodable.Type), "\(type)")
        }
        let state: Any.Type = CKSyncEngine.State.Serialization.self
        #expect(state is any Encodable.Type && state is any Decodable.Type)
    }
}
