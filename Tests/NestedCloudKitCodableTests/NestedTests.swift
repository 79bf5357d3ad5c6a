import CloudKit
import CloudKitTesting
import Foundation
import NestedCKCodable
import Testing

struct School: CKCodable, Equatable {
    var identifier: String
    var location: String
    var director: Human
    var classes: [Lesson]
    var secret: String?

    var cloudKitRecordType: String { "School" }
    var cloudKitIdentifier: String { identifier }
    func ignoredProperties() -> [String] { ["secret"] }
}

struct Lesson: CKCodable, Equatable {
    var identifier: String
    var teacher: Human
    var key: UUID

    var cloudKitRecordType: String { "Lesson" }
    var cloudKitIdentifier: String { identifier }
}

struct Human: CKCodable, Equatable {
    var identifier: String
    var picture: Data
    var born: Date

    var cloudKitRecordType: String { "Human" }
    var cloudKitIdentifier: String { identifier }
}

@Suite("The API of NestedCloudKitCodable")
struct NestedTests {
    let zoneID = CKRecordZone.ID(zoneName: "School")

    private var school: School {
        let ada = Human(
            identifier: "ada",
            picture: Data([1]),
            born: Date(timeIntervalSinceReferenceDate: 1)
        )
        let bob = Human(
            identifier: "bob",
            picture: Data([2]),
            born: Date(timeIntervalSinceReferenceDate: 2)
        )
        return School(
            identifier: "school",
            location: "52.5;13.25",
            director: ada,
            classes: [
                Lesson(identifier: "c1", teacher: ada, key: UUID()),
                Lesson(identifier: "c2", teacher: bob, key: UUID()),
            ],
            secret: nil
        )
    }

    private func database() async throws -> CKDatabase {
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: try await cloud.addUser("Ada"))
            .privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        return database
    }

    /// Calls the completion form as an async one, which fails the test when it is called twice.
    private func decode<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ record: CKRecord,
        _ database: CKDatabase
    ) async -> (Value?, CKCodableError?) {
        await withCheckedContinuation { continuation in
            CKRecordDecoder().decode(type, from: record, referenceDatabase: database) {
                continuation.resume(returning: ($0, $1))
            }
        }
    }

    @Test("Values within values are records at any depth, shared ones once, the root last")
    func encode() throws {
        var value = school
        value.secret = "x"
        let records = try CKRecordEncoder(zoneID: zoneID).encode(value)
        #expect(records.map(\.recordID.recordName) == ["ada", "c1", "bob", "c2", "school"])
        #expect(records.allSatisfy { $0.recordID.zoneID == zoneID })
        let root = try #require(records.last)
        #expect(root["secret"] as? String == nil)
        #expect(root["location"] == "52.5;13.25")
        let director: CKRecord.Reference? = root["director"]
        #expect(director?.action == .deleteSelf)
        #expect(director?.recordID.zoneID == zoneID)
        #expect(records[0]["picture"] == Data([1]))
        #expect(records[1]["key"] == value.classes[0].key.uuidString)
    }

    @Test("What was encoded and saved decodes at any depth, with one call of the completion")
    func roundTrip() async throws {
        let database = try await database()
        for isNew in [false, true] {
            let encoder = CKRecordEncoder(zoneID: zoneID)
            encoder.storesLocations = isNew
            encoder.storesAssets = isNew
            encoder.referenceAction = .none
            var value = school
            if isNew { value.identifier = "new" }
            let records = try encoder.encode(value)
            _ = try await database.modifyRecords(
                saving: records,
                deleting: [],
                savePolicy: .allKeys
            )
            let root = try #require(records.last)
            #expect((root["location"] as CLLocation? != nil) == isNew)
            let fetched = try await database.record(for: root.recordID)
            let (result, error) = await decode(School.self, fetched, database)
            #expect(result == value)
            #expect(error == nil)
        }
    }

    @Test("A missing record and a missing field are reported, not forgotten")
    func failures() async throws {
        let database = try await database()
        let records = try CKRecordEncoder(zoneID: zoneID).encode(school)
        let root = try #require(records.last)
        let (nothing, missing) = await decode(School.self, root, database)
        #expect(nothing == nil)
        #expect(missing?.errorType == .recordNotFound)
        #expect(missing?.description.contains("director") == true)

        let incomplete = CKRecord(recordType: "Human", recordID: CKRecord.ID(recordName: "x"))
        let (none, mismatch) = await decode(Human.self, incomplete, database)
        #expect(none == nil)
        #expect(mismatch?.errorType == .typeMismatch)
        #expect(mismatch?.description.contains("identifier") == true)
    }

    struct Chain: CKCodable {
        var identifier: String
        var next: [Chain] = []
        var picture = Data()

        var cloudKitRecordType: String { "Chain" }
        var cloudKitIdentifier: String { identifier }
    }

    @Test("What an error says to do is in this API")
    func remedies() async throws {
        let database = try await database()
        let encoder = CKRecordEncoder(zoneID: zoneID)
        var errors: [CKCodableError] = []
        var chain = Chain(identifier: "0")
        for number in 1...200 { chain = Chain(identifier: "\(number)", next: [chain]) }
        let large = Chain(identifier: "large", picture: Data(count: 1_000_001))
        for value in [chain, large] {
            do { _ = try encoder.encode(value) } catch {
                errors.append(try #require(error as? CKCodableError))
            }
        }
        let record = try #require(try encoder.encode(Chain(identifier: "circle")).last)
        record["next"] = [CKRecord.Reference(recordID: record.recordID, action: .none)]
        let saved = try await database.save(record)
        errors.append(try #require(await decode(Chain.self, saved, database).1))
        let nowhere = CKRecord.ID(recordName: "nowhere", zoneID: zoneID)
        record["next"] = [CKRecord.Reference(recordID: nowhere, action: .none)]
        errors.append(try #require(await decode(Chain.self, record, database).1))

        #expect(errors.count == 4)
        for (error, word) in zip(
            errors,
            ["ignoredProperties()", "storesAssets", "ignoredProperties()", "save the record"]
        ) {
            #expect(error.description.contains(word), "\(error)")
            for other in ["CloudKitReference", "MissingRecords", "CloudKitAssetValue", ".json"] {
                #expect(!error.description.contains(other), "\(error)")
            }
        }
        #expect(errors[2].errorType == .cloudkitInconsistence)
    }

    @Test("Texts that are no locations stay texts", arguments: [";", "5;", "hello; world", "91;0"])
    func texts(text: String) throws {
        let encoder = CKRecordEncoder(zoneID: zoneID)
        encoder.storesLocations = true
        var value = school
        value.location = text
        #expect(try encoder.encode(value).last?["location"] == text)
    }

    @Test("A value with the name of the value around it is an error, not a loss")
    func clash() {
        var value = school
        value.director.identifier = value.identifier
        #expect(throws: CKCodableError.self) { try CKRecordEncoder().encode(value) }
    }
}
