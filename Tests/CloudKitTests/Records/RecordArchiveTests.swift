import CloudKit
import CloudKitBasics
import Support
import Testing

@Suite("Archives of records")
struct RecordArchiveTests {
    let record = {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "n1", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        )
        record["title"] = "Milk"
        record["count"] = 3
        record["tags"] = ["a", "b"]
        record["at"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["gone"] = nil
        record.encryptedValues["secret"] = "s"
        record.setParent(CKRecord.ID(recordName: "p"))
        return record
    }()

    @Test("System fields are written to the archiver's top level and make a record without values")
    func systemFields() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let read = try #require(CKRecord(coder: unarchiver))
        unarchiver.finishDecoding()

        #expect(read.recordType == "Note")
        #expect(read.recordID == record.recordID)
        #expect(read.parent?.recordID.recordName == "p")
        #expect(read.allKeys().isEmpty && read.changedKeys().isEmpty)
    }

    @Test("A whole record keeps values and changes")
    func wholeRecord() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: record,
            requiringSecureCoding: true
        )
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
        )
        #expect(read.allKeys() == record.allKeys())
        #expect(read.changedKeys() == record.changedKeys())
        #expect(read["title"] == "Milk")
        #expect(read["count"] == 3)
        #expect(read["tags"] == ["a", "b"])
        #expect(read["at"] as? CLLocation == record["at"] as? CLLocation)
        #expect((read["other"] as? CKRecord.Reference)?.action == .deleteSelf)
        #expect(read.encryptedValues["secret"] == "s")
    }

    @Test("An archive that holds no record gives nil, whatever it holds")
    func broken() throws {
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        empty.finishEncoding()
        #expect(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)) == nil)

        let foreign = NSKeyedArchiver(requiringSecureCoding: true)
        foreign.encode(NSNumber(value: 1), forKey: "RecordType")
        foreign.encode("text" as NSString, forKey: "RecordID")
        foreign.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: foreign.encodedData)
        reader.requiresSecureCoding = true
        #expect(CKRecord(coder: reader) == nil)
    }

    private static func roundTrip<Object: NSObject & NSSecureCoding>(
        _ object: Object
    ) throws -> Object? {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object,
            requiringSecureCoding: true
        )
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    }

    @Test(
        "IDs, references, zones and tokens are equal after a round trip",
        arguments: CloudFixture.allCases
    )
    func values(fixture: CloudFixture) async throws {
        let id = record.recordID
        #expect(try Self.roundTrip(id) == id)
        #expect(try Self.roundTrip(id.zoneID) == id.zoneID)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(try Self.roundTrip(reference) == reference)
        #expect(try Self.roundTrip(CKRecordZone(zoneID: id.zoneID))?.zoneID == id.zoneID)

        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let saved = try await database.save(CKRecordZone(zoneName: "Notes"))
            // Zones themselves are equal only by identity.
            let zone = try await database.recordZone(for: saved.zoneID)
            let readZone = try #require(try Self.roundTrip(zone))
            #expect(readZone.zoneID == zone.zoneID)
            #expect(readZone.capabilities == zone.capabilities)
            #expect(readZone.share == zone.share)
            let token = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: nil
            ).changeToken
            let readToken = try #require(try Self.roundTrip(token))
            #expect(readToken == token && readToken.hash == token.hash)
            let recordID = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
            try await database.save(CKRecord(recordType: "Note", recordID: recordID))
            let later = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: readToken
            ).changeToken
            #expect(later != token)
        }
    }

    // MARK: Archives without Foundation's archivers

    /// Returns the archive that Foundation's archiver writes.
    private static func archive(_ record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    /// Returns the record that Foundation's unarchiver reads.
    private static func record(_ data: Data) throws -> CKRecord {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return try #require(CKRecord(coder: unarchiver))
    }

    /// Returns a record that a server has, from an archive with all system fields.
    private static func savedRecord(
        named name: String,
        modified: TimeInterval? = 1_767_225_900.123,
        share: String? = nil
    ) throws -> CKRecord {
        let zoneID = CKRecordZone.ID(zoneName: "Größe 🏠", ownerName: "_owner")
        let user = CKRecord.ID(recordName: "_user")
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("Note" as NSString, forKey: "RecordType")
        archiver.encode(CKRecord.ID(recordName: name, zoneID: zoneID), forKey: "RecordID")
        archiver.encode("3a" as NSString, forKey: "ETag")
        archiver.encode(NSDate(timeIntervalSince1970: -1.5), forKey: "RecordCtime")
        archiver.encode(
            modified.map { NSDate(timeIntervalSince1970: $0) },
            forKey: "RecordMtime"
        )
        archiver.encode(user, forKey: "CreatorUserRecordID")
        archiver.encode(user, forKey: "LastModifiedUserRecordID")
        for (key, name) in [("ParentReference", "p"), ("ShareReference", share)] {
            archiver.encode(
                name.map {
                    let id = CKRecord.ID(recordName: $0, zoneID: zoneID)
                    return CKRecord.Reference(recordID: id, action: .none)
                },
                forKey: key
            )
        }
        archiver.finishEncoding()
        return try record(archiver.encodedData)
    }

    private static func isEqual(_ left: CKRecord, _ right: CKRecord) -> Bool {
        left.recordType == right.recordType && left.recordID == right.recordID
            && left.recordChangeTag == right.recordChangeTag
            && left.creationDate == right.creationDate
            && left.modificationDate == right.modificationDate
            && left.creatorUserRecordID == right.creatorUserRecordID
            && left.lastModifiedUserRecordID == right.lastModifiedUserRecordID
            && left.parent == right.parent && left.share == right.share
            && left.allKeys() == right.allKeys()
    }

    @Test(
        "System fields are equal whichever archiver wrote them and whichever unarchiver reads them",
        arguments: ["n", "n1", "Ünï 🐟 \u{0} \"<", String(repeating: "x", count: 255)]
    )
    func archivers(name: String) throws {
        for record in [
            try Self.savedRecord(named: name),
            try Self.savedRecord(named: name, modified: nil, share: "share-1"),
            CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name)),
        ] {
            let own = record.systemFieldsArchive
            #expect(Self.isEqual(try Self.record(own), record))
            #expect(Self.isEqual(try #require(CKRecord(systemFieldsArchive: own)), record))
            let theirs = Self.archive(record)
            #expect(Self.isEqual(try #require(CKRecord(systemFieldsArchive: theirs)), record))
        }
    }

    @Test("An archive names the classes of Apple's framework and is the same for the same fields")
    func classNames() throws {
        let record = try Self.savedRecord(named: "n", share: "share-1")
        let archive = record.systemFieldsArchive
        #expect(archive == record.systemFieldsArchive)
        let list = try PropertyListSerialization.propertyList(from: archive, format: nil)
        let parts = try #require(list as? [String: Any])
        #expect(parts["$archiver"] as? String == "NSKeyedArchiver")
        #expect(parts["$version"] as? Int == 100_000)
        let names = try #require(parts["$objects"] as? [Any])
            .compactMap { ($0 as? [String: Any])?["$classname"] as? String }
        #expect(Set(names) == ["CKRecordID", "CKRecordZoneID", "CKReference", "NSDate"])
    }

    private final class OwnRecord: CKRecord, @unchecked Sendable {
        // @unchecked Sendable because its superclass is; it adds no properties.

        override func encodeSystemFields(with coder: NSCoder) {
            super.encodeSystemFields(with: coder)
            coder.encode(["own"] as NSArray, forKey: "own")
        }
    }

    @Test("A subclass and a share are archived with what they add")
    func subclasses() throws {
        let own = OwnRecord(recordType: "Note").systemFieldsArchive
        let reader = try NSKeyedUnarchiver(forReadingFrom: own)
        #expect(reader.containsValue(forKey: "own"))

        let share = CKShare(rootRecord: record)
        share.publicPermission = .readOnly
        let data = (share as CKRecord).systemFieldsArchive
        let read = try #require(CKShare(coder: try NSKeyedUnarchiver(forReadingFrom: data)))
        #expect(read.publicPermission == .readOnly)
    }

    @Test("Damaged archives give nil or a record, and never end the process")
    func damagedArchives() throws {
        let archive = try Self.savedRecord(named: "n", share: "share-1").systemFieldsArchive
        var random = SeededRandom(seed: 29)
        var readable = 0
        for _ in 0..<20_000 {
            var bytes = archive
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 0...9, using: &random))
            }
            if CKRecord(systemFieldsArchive: bytes) != nil { readable += 1 }
        }
        // Most changes hit a text or a date.
        #expect(readable > 1000)
        #expect(CKRecord(systemFieldsArchive: Data()) == nil)
    }

    @Test("Lists within lists a hundred thousand levels deep do not end the process")
    func deepArchive() throws {
        let levels = 100_000
        var writer = BinaryPropertyListWriter()
        func pair(_ key: String, _ value: BinaryPropertyList.Object) -> BinaryPropertyList.Pair {
            BinaryPropertyList.Pair(key: writer.add(.string(key)), value: writer.add(value))
        }
        // Each list has the next object as its only element; the last object is none.
        var objects = [writer.add(.string("$null")), writer.add(.string("Note"))]
        objects.append(writer.add(.dictionary([pair("$classname", .string("NSArray"))])))
        for level in 0..<levels {
            let next = writer.add(.reference(objects.count + 1))
            objects.append(
                writer.add(
                    .dictionary([
                        pair("$class", .reference(2)),
                        pair("NS.objects", .array(level < levels - 1 ? [next] : [])),
                    ])
                )
            )
        }
        let top = [pair("RecordType", .reference(1)), pair("RecordID", .reference(3))]
        let parts = [pair("$top", .dictionary(top)), pair("$objects", .array(objects))]
        let list = writer.add(.dictionary(parts))
        #expect(CKRecord(systemFieldsArchive: Data(writer.bytes(top: list))) == nil)
    }
}
