import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Rules: fields")
struct FieldRuleTests {
    private let recordID = CKRecord.ID(recordName: "n")

    @Test(
        "Setting a field to the value that it has marks it as changed, and sends it",
        arguments: CloudFixture.allCases
    )
    func equalValue(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            let mine = CKRecord(recordType: "Note", recordID: recordID)
            mine["title"] = "mine"
            mine["count"] = 1
            try await phone.save(mine)
            #expect(mine.changedKeys() == [])
            let theirs = try await laptop.record(for: recordID)
            theirs["title"] = "theirs"
            theirs["count"] = 2
            try await laptop.save(theirs)

            mine["title"] = "mine"
            #expect(mine.changedKeys() == ["title"])
            let (results, _) = try await phone.modifyRecords(
                saving: [mine],
                deleting: [],
                savePolicy: .changedKeys
            )
            _ = try #require(results[recordID]).get()
            let now = try await laptop.record(for: recordID)
            #expect(now["title"] == "mine" && now["count"] == 2)
        }
    }

    @Test(
        "allTokens has the words of all texts, before a save and after a fetch",
        arguments: CloudFixture.allCases
    )
    func tokens(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note", recordID: recordID)
            #expect(record.allTokens().isEmpty)
            record["title"] = "  oat  milk "
            record["comment"] = "two\nlitres\tthree"
            record["count"] = 3
            record["data"] = Data("bytes".utf8)
            let words = ["litres", "milk", "oat", "three", "two"]
            #expect(record.allTokens().sorted() == words)
            try await database.save(record)
            let fetched = try await database.record(for: recordID)
            #expect(fetched.allTokens().sorted() == words)
            fetched["comment"] = nil
            #expect(fetched.allTokens().sorted() == ["milk", "oat"])
        }
    }
}
