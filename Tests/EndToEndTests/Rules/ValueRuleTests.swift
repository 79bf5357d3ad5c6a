import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Rules: values and sizes")
struct ValueRuleTests {
    private let recordID = CKRecord.ID(recordName: "n")

    @Test(
        "A field's type is fixed by its first value, and another type is refused by name",
        arguments: CloudFixture.allCases
    )
    func fixedTypes(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let first = CKRecord(recordType: "Note")
            first["text"] = "a"
            first["list"] = [1, 2]
            try await database.save(first)
            let values: [(String, any CKRecordValue)] = [
                ("text", 1 as NSNumber), ("text", ["a"] as NSArray), ("list", ["a"] as NSArray),
                ("list", 3 as NSNumber),
            ]
            for (key, value) in values {
                let record = CKRecord(recordType: "Note")
                record.setObject(value, forKey: key)
                let error = await expectCKError(.invalidArguments) {
                    try await database.save(record)
                }
                #expect(error?.localizedDescription.contains(key) == true)
            }
        }
    }

    @Test(
        "Lists hold one kind of value; an empty one fixes no type",
        arguments: CloudFixture.allCases
    )
    func lists(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["assets"] = [CKAsset(fileURL: URL(filePath: #filePath))]
            record["references"] = [CKRecord.Reference(recordID: recordID, action: .none)]
            record["mixed"] = [1, 2.5]
            try await database.save(record)
            let fetched = try await database.record(for: recordID)
            #expect((fetched["assets"] as? [CKAsset])?.count == 1)
            #expect((fetched["references"] as? [CKRecord.Reference])?.count == 1)
            #expect(fetched["mixed"] as? [Double] == [1, 2.5])

            let other = CKRecord(recordType: "Other")
            other["kinds"] = [1, "a"] as NSArray
            await expectCKError(.invalidArguments) { try await database.save(other) }

            let empty = CKRecord(recordType: "Note")
            empty["open"] = [String]()
            try await database.save(empty)
            let strings = CKRecord(recordType: "Note")
            strings["open"] = ["a", "b"]
            try await database.save(strings)
            let read = try await database.record(for: strings.recordID)
            #expect(read["open"] as? [String] == ["a", "b"])
            let numbers = CKRecord(recordType: "Note")
            numbers["open"] = [1, 2]
            await expectCKError(.invalidArguments) { try await database.save(numbers) }
        }
    }

    @Test(
        "A number fixes its field as a whole or a fraction by what it is",
        arguments: CloudFixture.allCases
    )
    func numbers(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["whole"] = Int64.max
            record["fraction"] = 2.0
            record["flag"] = true
            try await database.save(record)
            let fetched = try await database.record(for: recordID)
            #expect(fetched["whole"] as? Int64 == .max)
            #expect(fetched["fraction"] as? Double == 2)
            #expect(fetched["flag"] as? Bool == true)
            fetched["whole"] = 2.5
            await expectCKError(.invalidArguments) { try await database.save(fetched) }
        }
    }

    @Test(
        "A record of 1 MB is taken, a larger one is limitExceeded and nothing of it is stored",
        arguments: CloudFixture.allCases
    )
    func recordSize(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["data"] = Data(count: 1_000_000 - "data".utf8.count)
            try await database.save(record)
            let larger = CKRecord(recordType: "Note")
            larger["data"] = Data(count: 1_000_001 - "data".utf8.count)
            let error = await expectCKError(.limitExceeded) { try await database.save(larger) }
            #expect(error?.localizedDescription.contains("data") == true)
            await expectCKError(.unknownItem) { try await database.record(for: larger.recordID) }
        }
    }

    @Test(
        "Files do not count for a record's size",
        arguments: CloudFixture.allCases
    )
    func files(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            try Data(count: 1_500_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["file"] = CKAsset(fileURL: file)
            record["data"] = Data(count: 900_000)
            try await database.save(record)
            let asset = try await database.record(for: recordID)["file"] as? CKAsset
            let fetched = try Data(contentsOf: #require(asset?.fileURL))
            #expect(fetched.count == 1_500_000)
        }
    }

    @Test(
        "400 records are fetched in one call, 401 are refused: limitExceeded",
        arguments: CloudFixture.allCases
    )
    func fetchLimit(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let recordIDs = (0...400).map { CKRecord.ID(recordName: "n\($0)") }
            let results = try await database.records(for: Array(recordIDs.prefix(400)))
            #expect(results.count == 400)
            await expectCKError(.limitExceeded) { try await database.records(for: recordIDs) }
        }
    }

    @Test(
        "A filter of 200 values is taken, one of 201 is limitExceeded by the server's response",
        arguments: CloudFixture.allCases
    )
    func filterLimit(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note")
            record["number"] = 1
            try await database.save(record)
            func query(_ count: Int) -> CKQuery {
                let numbers = Array(1...count)
                let predicate = NSPredicate(format: "number IN %@", numbers)
                return CKQuery(recordType: "Note", predicate: predicate)
            }
            let found = try await database.records(matching: query(200))
            #expect(found.matchResults.map(\.0) == [record.recordID])
            await expectCKError(.limitExceeded) {
                try await database.records(matching: query(201))
            }
        }
    }
}
