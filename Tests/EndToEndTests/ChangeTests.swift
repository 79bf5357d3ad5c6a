import CloudKit
import Support
import Testing

@Suite("Changes between two devices")
struct ChangeTests {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private static func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    @Test(
        "A device receives exactly what changed since its token, deletions with their type",
        arguments: CloudFixture.allCases
    )
    func sinceToken(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            try await phone.save(CKRecordZone(zoneID: Self.zoneID))
            let notes = (0..<5).map { Self.note("n\($0)") }
            _ = try await phone.modifyRecords(saving: notes, deleting: [])

            let all = try await laptop.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
            #expect(Set(all.modificationResultsByID.keys) == Set(notes.map(\.recordID)))
            #expect(all.deletions.isEmpty && !all.moreComing)

            notes[2]["title"] = "changed"
            try await phone.save(notes[2])
            try await phone.deleteRecord(withID: notes[3].recordID)
            let news = try await laptop.recordZoneChanges(
                inZoneWith: Self.zoneID,
                since: all.changeToken
            )
            #expect(Array(news.modificationResultsByID.keys) == [notes[2].recordID])
            let record = try news.modificationResultsByID[notes[2].recordID]?.get().record
            #expect(record?["title"] == "changed")
            #expect(news.deletions.map(\.recordID) == [notes[3].recordID])
            #expect(news.deletions.map(\.recordType) == ["Note"])

            let nothing = try await laptop.recordZoneChanges(
                inZoneWith: Self.zoneID,
                since: news.changeToken
            )
            #expect(nothing.modificationResultsByID.isEmpty && nothing.deletions.isEmpty)
        }
    }

    @Test("Pages follow one another without gap or retryPolicy", arguments: CloudFixture.allCases)
    func pages(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            let notes = (0..<25).map { Self.note("n\($0)") }
            _ = try await database.modifyRecords(saving: notes, deleting: [])
            var seen: [CKRecord.ID] = []
            var token: CKServerChangeToken?
            var moreComing = true
            while moreComing {
                let page = try await database.recordZoneChanges(
                    inZoneWith: Self.zoneID,
                    since: token,
                    resultsLimit: 10
                )
                #expect(page.modificationResultsByID.count <= 10)
                seen += page.modificationResultsByID.keys
                token = page.changeToken
                moreComing = page.moreComing
            }
            #expect(seen.count == 25)
            #expect(Set(seen) == Set(notes.map(\.recordID)))
        }
    }

    @Test(
        "The database's changes name new, changed and deleted zones",
        arguments: CloudFixture.allCases
    )
    func zones(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            let other = CKRecordZone.ID(zoneName: "Other")
            _ = try await phone.modifyRecordZones(
                saving: [CKRecordZone(zoneID: Self.zoneID), CKRecordZone(zoneID: other)],
                deleting: []
            )
            let all = try await laptop.databaseChanges(since: nil)
            #expect(Set(all.modifications.map(\.zoneID)).isSuperset(of: [Self.zoneID, other]))

            try await phone.save(Self.note("n"))
            try await phone.deleteRecordZone(withID: other)
            let news = try await laptop.databaseChanges(since: all.changeToken)
            #expect(news.modifications.map(\.zoneID) == [Self.zoneID])
            #expect(news.deletions.map(\.zoneID) == [other])
            #expect(news.deletions.map(\.reason) == [.deleted])
        }
    }

    @Test(
        "The token of a zone that was deleted and made again has expired",
        arguments: CloudFixture.allCases
    )
    func recreatedZone(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            try await database.save(Self.note("old"))
            let token = try await database.recordZoneChanges(
                inZoneWith: Self.zoneID,
                since: nil
            ).changeToken
            try await database.deleteRecordZone(withID: Self.zoneID)
            await expectCKError(.zoneNotFound) {
                _ = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: token)
            }
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            await expectCKError(.changeTokenExpired) {
                _ = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: token)
            }
            let fresh = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
            #expect(fresh.modificationResultsByID.isEmpty)
        }
    }

    @Test("A zone's capabilities and owner are what Apple's are", arguments: CloudFixture.allCases)
    func capabilities(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let saved = try await database.save(CKRecordZone(zoneID: Self.zoneID))
            #expect(saved.zoneID == Self.zoneID)
            #expect(saved.capabilities.contains([.atomic, .fetchChanges]))
            let zones = try await database.allRecordZones()
            #expect(Set(zones.map(\.zoneID)) == [.default, Self.zoneID])
            await expectCKError(.zoneNotFound) {
                _ = try await database.recordZone(for: CKRecordZone.ID(zoneName: "Nowhere"))
            }
        }
    }
}
