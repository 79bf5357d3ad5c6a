#if Macros
import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("The mapping that @CloudKitRecord writes")
struct MappingTests {
    /// A file for assets, removed with the test.
    private final class File {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "mapping-\(UUID().uuidString)")

        init() throws { try Data("a file".utf8).write(to: url) }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private let zoneID = Thing.zoneID
    private let id = UUID(uuidString: "5A7D5C1E-0B0E-4C57-9D0B-3B7C1B4F1A11")!
    private let file: File

    init() throws { file = try File() }

    private func encoder(_ forms: CloudKitRecordForms) -> CloudKitRecordEncoder {
        let encoder = CloudKitRecordEncoder(zoneID: zoneID)
        encoder.forms = forms
        return encoder
    }

    private func things(_ seed: UInt64) -> (Thing, Thing) {
        var random = SeededRandom(seed: seed)
        let asset = CKAsset(fileURL: file.url)
        let first = Thing(&random, id: id, file: asset)
        var second = Thing(&random, id: id, file: asset)
        // Some properties are equal in both.
        if random.flag() { second.text = first.text }
        if random.flag() { second.optionalDate = first.optionalDate }
        if random.flag() { second.shape = first.shape }
        if random.flag() { second.secret = first.secret }
        if random.flag() { second.scan = first.scan }
        if random.flag() { second.places = first.places }
        if random.flag() { second.table = first.table }
        return (first, second)
    }

    /// Returns things whose records contain everything.
    private func lonelyThings(_ seed: UInt64) -> (Thing, Thing) {
        var (first, second) = things(seed)
        (first.best, first.team, second.best, second.team) = (nil, [], nil, [])
        return (first, second)
    }

    @Test(
        "It makes the record that Codable makes",
        arguments: 0..<40,
        [CloudKitRecordForms.original, .native]
    )
    func encode(seed: UInt64, forms: CloudKitRecordForms) throws {
        let (thing, _) = lonelyThings(seed)
        let mapped = try encoder(forms).encode(thing)
        let coded = try encoder(forms).encode(ByCodable(thing))
        #expect(try RecordContents(mapped) == RecordContents(coded))
        #expect(mapped.recordType == "Stuff" && mapped.recordID.recordName == id.uuidString)

        // The same without static knowledge of the type.
        let unknown: any Encodable = thing
        #expect(try RecordContents(encoder(forms).encode(unknown)) == RecordContents(mapped))
    }

    @Test(
        "Onto a saved record it touches what Codable touches, and nothing when nothing differs",
        arguments: [CloudKitRecordForms.original, .native]
    )
    func encodeOnto(forms: CloudKitRecordForms) async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        for seed in UInt64(0)..<12 {
            var (old, new) = lonelyThings(seed)
            let id = UUID()
            old.id = id
            new.id = id
            let record = try encoder(forms).encode(old)
            let saved = try await database.save(record)
            #expect(saved.changedKeys().isEmpty)

            let mapped = try #require(saved.copy() as? CKRecord)
            let coded = try #require(saved.copy() as? CKRecord)
            try encoder(forms).encode(new, onto: mapped)
            try encoder(forms).encode(ByCodable(new), onto: coded)
            #expect(try RecordContents(mapped) == RecordContents(coded))

            try encoder(forms).encode(old, onto: saved)
            #expect(saved.changedKeys() == [] && saved.encryptedValues.changedKeys() == [])
        }
    }

    @Test("It reads the value that Codable reads", arguments: 0..<40)
    func decode(seed: UInt64) throws {
        let (thing, _) = lonelyThings(seed)
        for forms in [CloudKitRecordForms.original, .native] {
            let record = try encoder(forms).encode(thing)
            let decoder = CloudKitRecordDecoder()
            let mapped = try decoder.decode(Thing.self, from: record)
            #expect(mapped == thing)
            #expect(try decoder.decode(ByCodable<Thing>.self, from: record).model == thing)
        }
    }

    @Test("In a graph it makes and reads the records that Codable makes", arguments: 0..<20)
    func graph(seed: UInt64) throws {
        let (old, new) = things(seed)
        let encoder = CloudKitGraphEncoder(zoneID: zoneID)
        let mapped = try encoder.encode(old)
        let coded = try encoder.encode(ByCodable(old))
        #expect(
            try mapped.records.map(RecordContents.init) == coded.records.map(RecordContents.init)
        )
        let read = try CloudKitGraphDecoder().decode(
            Thing.self,
            from: mapped.records,
            root: mapped.rootID
        )
        #expect(read == old)

        let again = try encoder.encode(new, onto: mapped.records)
        let codedAgain = try encoder.encode(ByCodable(new), onto: mapped.records)
        #expect(
            try again.records.map(RecordContents.init)
                == codedAgain.records.map(RecordContents.init)
        )
    }

    @Test("A record that does not fit is the same error", arguments: 0..<120)
    func errors(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let (thing, _) = lonelyThings(seed)
        let record = try encoder(.native).encode(thing)
        // The mapping reports no error for a missing field whose property has a default value.
        let keys = record.allKeys().filter { $0 != "count" && $0 != "default" }
        for key in keys.shuffled(using: &random).prefix(1) {
            let others: [(any CKRecordValue)?] = [
                nil, "text", Data("null".utf8), Data("7".utf8), 7, 7.5, Date.distantPast,
                random.place(), random.reference(), NSArray(array: ["a", "b"]), NSArray(),
            ]
            record.setObject(others.randomElement(using: &random) ?? nil, forKey: key)
        }
        let mapped = outcome { try CloudKitRecordDecoder().decode(Thing.self, from: record) }
        let coded = outcome {
            try CloudKitRecordDecoder().decode(ByCodable<Thing>.self, from: record).model
        }
        #expect(mapped == coded)
    }

    /// Returns the value, or the error as text.
    private func outcome(_ body: () throws -> Thing) -> Result<Thing, Failure> {
        do {
            return .success(try body())
        } catch {
            return .failure(Failure(text: "\(error)"))
        }
    }

    private struct Failure: Error, Equatable {
        let text: String
    }

    @Test("A value that does not fit is the same error")
    func encodingErrors() throws {
        var (thing, _) = lonelyThings(1)
        thing.uint64 = .max
        var texts: [String] = []
        #expect {
            try encoder(.native).encode(thing)
        } throws: {
            texts.append("\($0)")
            return true
        }
        #expect {
            try encoder(.native).encode(ByCodable(thing))
        } throws: {
            texts.append("\($0)")
            return true
        }
        #expect(texts.first?.contains("out of the range of INT64") == true)
        #expect(texts.first == texts.last)

        let other = CKRecord(recordType: "Stuff", recordID: CKRecord.ID(recordName: "other"))
        #expect(throws: EncodingError.self) { try encoder(.native).encode(thing, onto: other) }
    }

    @Test("The schema of a mapped model is that of its Codable side")
    func schema() throws {
        // The form of a structure without raw values is known only from a value.
        let unknown = #expect(throws: CloudKitSchemaError.self) {
            try CloudKitSchema(of: Thing.self)
        }
        #expect(unknown?.description.contains("Stuff.shape: the form of a Figure") == true)
        #expect(unknown?.description.contains("Stuff.optionalShape") == true)
        var (sample, _) = things(1)
        sample.optionalShape = sample.shape
        let mapped = try CloudKitSchema(of: Thing.self, describing: [sample])
        #expect(mapped.recordTypes.map(\.name) == ["Stuff", "Friend"])
        #expect(try CloudKitSchema(describing: [ByCodable(sample)]) == mapped)
        #expect(try CloudKitSchema(of: Friend.self).recordTypes == [mapped.recordTypes[1]])
        let thing = mapped.recordTypes[0].fields.map { "\($0.name) \($0.type)" }
        #expect(thing.contains("t STRING") && thing.contains("hidden ENCRYPTED INT64"))
        #expect(thing.contains("letter BYTES") && thing.contains("letter_asset ASSET"))
        #expect(!thing.contains { $0.hasPrefix("id ") || $0.hasPrefix("isSelected") })
    }
}
#endif
