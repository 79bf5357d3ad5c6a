import CloudKit
import Testing

// Stand-ins that write archives as Apple's framework does: its class names and keys.

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
    private func archive() -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.setClassName("CKRecord", for: RecordStand.self)
        archiver.setClassName("CKRecordValueStore", for: ValueStand.self)
        archiver.setClassName("CKAsset", for: AssetStand.self)
        archiver.encode(RecordStand(), forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    @Test("An archive that names CKRecord is read with its values and changes")
    func read() throws {
        let record = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: archive())
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

    @Test("No broken archive ends the process", arguments: [true, false])
    func broken(ours: Bool) throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n1"))
        record["title"] = "Milk"
        record["at"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["list"] = [1, 2, 3]
        let whole =
            ours
            ? try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
            : archive()
        var random = SplitMix(seed: 42)
        for _ in 0..<3000 {
            var data = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: data = data.prefix(Int.random(in: 0...data.count, using: &random))
                case 1 where !data.isEmpty:
                    let index = data.startIndex + Int.random(in: 0..<data.count, using: &random)
                    data[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
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

    /// Puts one class where another stands; the root's stays, which Foundation checks before anyone.
    private func swapped(_ data: Data, using random: inout SplitMix) -> Data {
        let names = [
            "CKRecordID", "CKRecordZoneID", "CKReference", "NSDictionary", "NSArray", "NSDate",
            "CKRecordValueStore", "CKAsset", "NSURL", "CLLocation",
        ]
        guard
            var list = try? PropertyListSerialization.propertyList(from: data, format: nil)
                as? [String: Any],
            var objects = list["$objects"] as? [Any]
        else { return data }
        for index in objects.indices {
            guard var object = objects[index] as? [String: Any],
                let name = object["$classname"] as? String, !name.hasSuffix("CKRecord"),
                Bool.random(using: &random), let other = names.randomElement(using: &random)
            else { continue }
            object["$classname"] = other
            object["$classes"] = [other, "NSObject"]
            objects[index] = object
        }
        list["$objects"] = objects
        let swapped = try? PropertyListSerialization.data(
            fromPropertyList: list,
            format: .binary,
            options: 0
        )
        return swapped ?? data
    }
}

/// A sequence that is the same in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
