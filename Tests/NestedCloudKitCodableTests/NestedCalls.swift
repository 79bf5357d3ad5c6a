import CloudKit
import CloudKitTesting
import Foundation
import NestedCloudKitCodable
import Support
import Synchronization
import Testing

// The calls that users of that library write, under its other module name.

private struct Library: CKCodable, Equatable {
    var identifier = "library"
    var site = URL(string: "https://example.com")!
    var links = [URL(string: "https://example.com/1")!]
    var key = UUID(uuidString: "00000000-0000-0000-0000-0000000000AB")!
    var mood = Mood.good
    var opening = ["mon": 9]
    var address = Address(street: "Main")
    var shelves: [Shelf] = [Shelf()]
    var noShelves: [Shelf] = []
    var noTags: [String] = []

    var cloudKitRecordType: String { "Library" }
    var cloudKitIdentifier: String { identifier }

    enum Mood: String, Codable { case good, bad }

    struct Address: Codable, Equatable { var street: String }
}

private struct Shelf: CKCodable, Equatable {
    var identifier = "shelf"
    var book: Tome? = Tome()

    var cloudKitRecordType: String { "Shelf" }
    var cloudKitIdentifier: String { identifier }
    func ignoredProperties() -> [String] { [] }
}

private struct Tome: CKEncodable, CKDecodable, Equatable {
    var identifier = "tome"
    var pages = 10

    var cloudKitRecordType: String { "Tome" }
    var cloudKitIdentifier: String { identifier }
}

/// An enumeration that codes itself as a single value.
private enum Colour: String, CKCodable {
    case red

    var cloudKitRecordType: String { "Colour" }
    var cloudKitIdentifier: String { rawValue }
}

private class Animal: CKCodable {
    var identifier = "animal"
    var legs = 4

    var cloudKitRecordType: String { "Animal" }
    var cloudKitIdentifier: String { identifier }

    init() {}
}

private final class Dog: Animal {
    var name = "Rex"

    enum CodingKeys: CodingKey { case name }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
    }
}

private final class Ring: CKCodable {
    var identifier: String
    var next: Ring?

    var cloudKitRecordType: String { "Ring" }
    var cloudKitIdentifier: String { identifier }

    init(_ identifier: String) { self.identifier = identifier }
}

private struct Nest: CKCodable, Equatable {
    var street = "Main"

    var cloudKitRecordType: String { "Nest" }
    var cloudKitIdentifier: String { "nest" }

    enum CodingKeys: CodingKey { case address }
    enum AddressKeys: CodingKey { case street }

    init() {}

    init(from decoder: any Decoder) throws {
        street = try decoder.container(keyedBy: CodingKeys.self)
            .nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
            .decode(String.self, forKey: .street)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
        try address.encode(street, forKey: .street)
    }
}

@Suite("Calls of NestedCloudKitCodable")
struct NestedCalls {
    let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: CKCurrentUserDefaultName)

    private func database(
        _ script: ScriptedTransport = ScriptedTransport()
    ) async throws
        -> CKDatabase
    {
        let cloud = try await TestCloud()
        let database = try await cloud.device(
            of: try await cloud.addUser("Ada"),
            transport: script.over
        ).privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        return database
    }

    /// Returns the argument of a completion handler, and the number of its calls.
    private func outcome<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ record: CKRecord,
        _ database: CKDatabase
    ) async -> (result: Value?, error: CKCodableError?, calls: Int) {
        let (stream, calls) = AsyncStream<(Value?, CKCodableError?)>.makeStream()
        let decoder = CKRecordDecoder()
        decoder.decode(type, from: record, referenceDatabase: database) { result, error in
            calls.yield((result, error))
        }
        var outcomes: [(Value?, CKCodableError?)] = []
        for await outcome in stream {
            outcomes.append(outcome)
            // A second call would come from the same task, before this request's response.
            _ = try? await database.allRecordZones()
            calls.finish()
        }
        return (outcomes.first?.0, outcomes.first?.1, outcomes.count)
    }

    @Test("Encoders are made with a zone, without, or get one later; the root is last")
    func encoders() throws {
        let encoder = CKRecordEncoder()
        #expect(encoder.zoneID == nil)
        encoder.zoneID = zoneID
        for records in [
            try encoder.encode(Library()), try CKRecordEncoder(zoneID: zoneID).encode(Library()),
        ] {
            #expect(records.map(\.recordID.recordName) == ["tome", "shelf", "library"])
            #expect(records.last?.recordType == "Library")
            #expect(Set(records.map(\.recordID.zoneID)) == [zoneID])
        }
        let value: any CKEncodable = Library()
        #expect(try CKRecordEncoder(zoneID: nil).encode(value).count == 3)
    }

    @Test("Every kind of property is stored and comes back: nothing is dropped")
    func properties() async throws {
        let database = try await database()
        let records = try CKRecordEncoder(zoneID: zoneID).encode(Library())
        let root = try #require(records.last)
        #expect(root["site"] == "https://example.com")
        #expect(root["mood"] == "good")
        #expect(root["address"] == Data(#"{"street":"Main"}"#.utf8))
        #expect(root["noShelves"] as? [CKRecord.Reference] == [])
        #expect(root["noTags"] as? [String] == [])
        _ = try await database.modifyRecords(saving: records, deleting: [])
        let outcome = await outcome(Library.self, root, database)
        #expect(outcome.result == Library())
        #expect(outcome.error == nil && outcome.calls == 1)
    }

    @Test("A superclass's fields and a subclass's are both stored")
    func inheritance() throws {
        let dog = Dog()
        dog.legs = 3
        let record = try #require(try CKRecordEncoder().encode(dog).last)
        #expect(record.allKeys() == ["identifier", "legs", "name"])
    }

    @Test("Containers within containers are stored")
    func nestedContainers() async throws {
        let record = try #require(try CKRecordEncoder().encode(Nest()).last)
        #expect(record["address"] == Data(#"{"street":"Main"}"#.utf8))
        let outcome = await outcome(Nest.self, record, try await database())
        #expect(outcome.result == Nest() && outcome.calls == 1)
    }

    @Test("A value that codes itself as a single value is stored as that")
    func singleValue() throws {
        let records = try CKRecordEncoder().encode(Colour.red)
        #expect(records.count == 1)
        #expect(records.first?["value"] == "red")
    }

    @Test("A circle encodes; decoding it ends with one call and an error")
    func circle() async throws {
        let script = ScriptedTransport()
        let database = try await database(script)
        let first = Ring("r1")
        let second = Ring("r2")
        first.next = second
        second.next = first
        let encoder = CKRecordEncoder(zoneID: zoneID)
        encoder.referenceAction = .none
        let records = try encoder.encode(first)
        #expect(records.count == 2)
        _ = try await database.modifyRecords(saving: records, deleting: [])
        let before = script.requests(about: "records/lookup").count
        let root = try #require(records.first { $0.recordID.recordName == "r1" })
        let outcome = await outcome(Ring.self, root, database)
        #expect(outcome.error?.errorType == .cloudkitInconsistence)
        #expect(outcome.result == nil && outcome.calls == 1)
        #expect(script.requests(about: "records/lookup").count == before + 1)
    }

    @Test("A record without references costs no request, and one with shared ones asks once")
    func requests() async throws {
        let script = ScriptedTransport()
        let database = try await database(script)
        var library = Library()
        library.shelves = []
        let lone = try #require(try CKRecordEncoder(zoneID: zoneID).encode(library).last)
        let outcome = await outcome(Library.self, lone, database)
        #expect(outcome.result == library)
        #expect(script.requests(about: "records/lookup").isEmpty)
    }

    @Test("What the service refuses, and what is missing, reach the completion once")
    func failures() async throws {
        let refusing = ScriptedTransport { request, _ in
            request.isAbout("records/lookup")
                ? .refusal(403, #"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#) : nil
        }
        let root = try #require(try CKRecordEncoder(zoneID: zoneID).encode(Library()).last)
        let refused = await outcome(Library.self, root, try await database(refusing))
        #expect(refused.error?.errorType == .cloudkitError)
        #expect(refused.result == nil && refused.calls == 1)

        let missing = await outcome(Library.self, root, try await database())
        #expect(missing.error?.errorType == .recordNotFound && missing.calls == 1)

        root["key"] = nil
        root["shelves"] = [CKRecord.Reference]()
        let incomplete = await outcome(Library.self, root, try await database())
        #expect(incomplete.error?.errorType == .typeMismatch && incomplete.calls == 1)
        #expect(incomplete.error?.description.contains("key") == true)
        #expect(incomplete.error == incomplete.error)
    }
}
