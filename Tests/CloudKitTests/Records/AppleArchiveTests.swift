import CloudKit
import Support
import Testing

// Stand-ins that write archives like Apple's framework: with its class names and keys.

final class RecordStand: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        let zone = CKRecordZone.ID(zoneName: "Notes")
        coder.encode("Note" as NSString, forKey: "RecordType")
        coder.encode(CKRecord.ID(recordName: "n1", zoneID: zone), forKey: "RecordID")
        coder.encode("7" as NSString, forKey: "ETag")
        coder.encode(NSDate(timeIntervalSince1970: 1000), forKey: "RecordCtime")
        coder.encode(
            ValueStand(
                values: [
                    "title": "Milk" as NSString, "count": NSNumber(value: 3),
                    "tags": ["a", "b"] as NSArray,
                    "photo": AssetStand(),
                ],
                changed: ["title"]
            ),
            forKey: "ValueStore"
        )
    }
}

final class ValueStand: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let values: [String: Any]
    let changed: [String]

    init(values: [String: Any], changed: [String]) {
        self.values = values
        self.changed = changed
    }

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(values as NSDictionary, forKey: "RecordValues")
        coder.encode(changed as NSArray, forKey: "ChangedKeys")
    }
}

final class AssetStand: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(NSURL(fileURLWithPath: "/photo.jpg"), forKey: "AssetFileURL")
    }
}

@Suite("Archives made on Apple platforms")
struct AppleArchiveTests {
    /// Foundation's archiver writes only its own class names here, so the stand-ins' names are read
    /// as those of Apple's classes.
    init() throws {
        for (stand, name) in [
            ("RecordStand", "CKRecord"), ("ValueStand", "CKRecordValueStore"),
            ("AssetStand", "CKAsset"),
        ] {
            let type: AnyClass = try #require(NSKeyedUnarchiver.class(forClassName: name))
            NSKeyedUnarchiver.setClass(type, forClassName: "CloudKitTests.\(stand)")
        }
    }

    private func archive() throws -> Data {
        try NSKeyedArchiver.archivedData(
            withRootObject: RecordStand(),
            requiringSecureCoding: true
        )
    }

    @Test("The names of Apple's classes are known before anything of the module is used")
    func names() {
        #expect(NSKeyedUnarchiver.class(forClassName: "CKRecord") == CKRecord.self)
        #expect(NSKeyedUnarchiver.class(forClassName: "CKRecordID") == CKRecord.ID.self)
        #expect(NSKeyedUnarchiver.class(forClassName: "CKRecordZoneID") == CKRecordZone.ID.self)
        #expect(NSKeyedUnarchiver.class(forClassName: "CKReference") == CKRecord.Reference.self)
    }

    @Test("An archive that names CKRecord is read with its values and changes")
    func read() throws {
        let record = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: try archive())
        )
        #expect(record.recordType == "Note")
        #expect(record.recordID.zoneID.zoneName == "Notes")
        #expect(record.recordChangeTag == "7")
        #expect(record["title"] == "Milk")
        #expect(record["count"] == 3)
        #expect(record["tags"] == ["a", "b"])
        #expect((record["photo"] as CKAsset?)?.fileURL?.path == "/photo.jpg")
        #expect(record.changedKeys() == ["title"])
    }

    @Test("System fields whose values have the wrong class make no record, and no crash")
    func wrongClasses() throws {
        for key in ["RecordType", "RecordID", "ETag", "RecordCtime"] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            if key != "RecordType" { archiver.encode("Note" as NSString, forKey: "RecordType") }
            if key != "RecordID" {
                archiver.encode(CKRecord.ID(recordName: "n1"), forKey: "RecordID")
            }
            archiver.encode([1] as NSArray, forKey: key)
            archiver.finishEncoding()
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
            unarchiver.requiresSecureCoding = true
            let record = CKRecord(coder: unarchiver)
            #expect(record == nil || key == "ETag" || key == "RecordCtime")
        }
    }

    @Test(
        "An archive that is cut short, lacks keys or has other classes does not end the process",
        arguments: [true, false]
    )
    func broken(ours: Bool) throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n1"))
        record["title"] = "Milk"
        record["at"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["list"] = [1, 2, 3]
        let whole =
            ours
            ? try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
            : try archive()
        var random = SeededRandom(seed: 42)
        for _ in 0..<3000 {
            var data = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: data = data.prefix(Int.random(in: 0...data.count, using: &random))
                case 1: data = renamedKey(data, using: &random)
                default: data = swapped(data, using: &random)
                }
            }
            let read = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
            if let read {
                _ = read.allKeys().map { read[$0] as Any? }
                _ = read.description
            }
        }
    }

    @Test(
        "An archive with wrong bits anywhere makes a record or none, and no crash",
        arguments: [true, false]
    )
    func wrongBits(ours: Bool) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        if ours {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n1"))
            record["list"] = [1, 2, 3]
            record["at"] = CLLocation(latitude: 1, longitude: 2)
            record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
            record.setParent(CKRecord.ID(recordName: "p"))
            record.encode(with: archiver)
        } else {
            RecordStand().encode(with: archiver)
        }
        archiver.finishEncoding()
        let whole = archiver.encodedData
        var random = SeededRandom(seed: 42)
        var counts = (read: 0, refused: 0)
        for _ in 0..<5000 {
            var data = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = data.indices.randomElement(using: &random) ?? 0
                data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard !Self.holdsSet(data),
                let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { continue }
            unarchiver.requiresSecureCoding = true
            if let record = CKRecord(coder: unarchiver) {
                _ = record.allKeys().map { record[$0] as Any? }
                _ = record.description
                counts.read += 1
            } else {
                counts.refused += 1
            }
        }
        #expect(counts.read > 500 && counts.refused > 500, "\(counts)")
    }

    /// Returns whether a binary property list contains a set.
    ///
    /// Foundation reads beyond memory in one whose members cannot be in a set, when it creates the
    /// unarchiver.
    private static func holdsSet(_ data: Data) -> Bool {
        func number(at start: Int, bytes count: Int) -> Int? {
            guard count <= 7, start >= 0, start + count <= data.count else { return nil }
            return data[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        }
        let trailer = data.count - 32
        guard let size = number(at: trailer + 6, bytes: 1),
            let count = number(at: trailer + 9, bytes: 7), count < data.count,
            let table = number(at: trailer + 25, bytes: 7)
        else { return false }
        return (0..<count).contains { index in
            guard let place = number(at: table + index * size, bytes: size), place < data.count
            else { return false }
            return data[place] >> 4 == 0xC
        }
    }

    /// Renames a key, so that it is missing.
    private func renamedKey(_ data: Data, using random: inout SeededRandom) -> Data {
        let keys = [
            "RecordType", "RecordID", "RecordName", "ZoneID", "ZoneName", "ownerName", "ETag",
            "ReferenceAction", "RecordValues", "ChangedKeys", "latitude", "fields", "AssetFileURL",
        ]
        guard let key = keys.randomElement(using: &random),
            let range = data.range(of: Data(key.utf8))
        else { return data }
        var data = data
        data[range.lowerBound] ^= 1
        return data
    }

    /// Replaces one class by another, with names of the same length.
    private func swapped(_ data: Data, using random: inout SeededRandom) -> Data {
        let groups = [
            ["CKRecordID", "CLLocation"], ["CKRecordZoneID", "CKUserIdentity"],
            ["NSArray", "CKAsset", "CKShare", "CKQuery"], ["NSDictionary", "CKRecordZone"],
        ]
        guard let group = groups.randomElement(using: &random),
            let from = group.randomElement(using: &random),
            let to = group.randomElement(using: &random),
            let range = data.range(of: Data(from.utf8))
        else { return data }
        var data = data
        data.replaceSubrange(range, with: Data(to.utf8))
        return data
    }
}
