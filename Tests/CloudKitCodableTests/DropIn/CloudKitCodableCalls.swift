import CloudKit
import CloudKitCodable
import Foundation
import Testing
import UniformTypeIdentifiers

// The calls that users of that library write: they must compile unchanged.

/// A value with the default record type and record name.
private struct Draft: CustomCloudKitCodable {
    var cloudKitSystemFields: Data?
    var title: String
}

private struct Contact: CustomCloudKitCodable, Equatable {
    var cloudKitSystemFields: Data?
    var id: String
    var name: String
    var kind: Kind
    var level: Level?
    var portrait: Portrait?

    var cloudKitRecordType: String { "Person" }
    var cloudKitIdentifier: String { id }

    enum Kind: String, CloudKitStringEnum, CaseIterable {
        case person, company
    }

    enum Level: Int, CloudKitIntEnum {
        case low = 1
        case high = 2

        static var cloudKitFallbackCase: Level? { .low }
    }
}

/// An enumeration without a fallback: an unknown case is an error.
private enum Strict: String, CloudKitStringEnum {
    case only

    static var cloudKitFallbackCase: Strict? { nil }
}

private struct Portrait: CloudKitAssetValue, Equatable {
    var pixels: [Int]
}

private struct Settings: CloudKitAssetValue, Equatable, Identifiable {
    static var preferredContentType: UTType { .xmlPropertyList }

    var id = "settings"
    var volume = 3
}

private struct Packed: CloudKitAssetValue, Equatable {
    static var preferredContentType: UTType { .binaryPropertyList }

    var numbers = [1, 2]
}

/// A value with its own file format.
private struct Plain: CloudKitAssetValue, Equatable {
    static var preferredContentType: UTType { UTType.png }

    var text: String
    var filename: String { "plain.png" }

    func encoded() throws -> Data { Data(text.utf8) }

    static func decoded(from data: Data, type: UTType) throws -> Plain {
        Plain(text: String(decoding: data, as: UTF8.self))
    }
}

private struct Bundle: Codable, Equatable {
    var portrait = Portrait(pixels: [1, 2])
    var settings = Settings()
    var packed = Packed()
    var plain = Plain(text: "bytes")
}

/// A value that is only encoded.
private struct Outgoing: CustomCloudKitEncodable {
    var cloudKitSystemFields: Data? { nil }
    var text: String
}

private struct Incoming: CustomCloudKitDecodable {
    var cloudKitSystemFields: Data?
    var text: String
}

@Suite("Calls of CloudKitCodable")
struct CloudKitCodableCalls {
    private let contact = Contact(id: "c1", name: "Ada", kind: .person, level: .high)

    @Test("Encoders are made with a zone, without, or get one later")
    func encoders() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: CKCurrentUserDefaultName)
        let plain = CloudKitRecordEncoder()
        let zoned = CloudKitRecordEncoder(zoneID: zoneID)
        #expect(plain.zoneID == nil && zoned.zoneID == zoneID)
        plain.zoneID = zoneID
        for encoder in [plain, zoned] {
            let record: CKRecord = try encoder.encode(contact)
            #expect(record.recordID == CKRecord.ID(recordName: "c1", zoneID: zoneID))
            #expect(record.recordType == "Person")
        }
        #expect(try CloudKitRecordEncoder(zoneID: nil).encode(contact).recordID.zoneID == .default)
    }

    @Test("Defaults: the type's name, and a new name at each encoding")
    func defaults() throws {
        let draft = Draft(title: "Milk")
        let first = try CloudKitRecordEncoder().encode(draft)
        let second = try CloudKitRecordEncoder().encode(draft)
        #expect(first.recordType == "Draft")
        #expect(UUID(uuidString: first.recordID.recordName) != nil)
        #expect(first.recordID != second.recordID)
        let existential: any Encodable = draft
        #expect(try CloudKitRecordEncoder().encode(existential)["title"] == "Milk")
    }

    @Test("A value decodes from a record, and carries its system fields")
    func decoders() throws {
        let record = try CloudKitRecordEncoder().encode(contact)
        let decoder = CloudKitRecordDecoder()
        var decoded = try decoder.decode(Contact.self, from: record)
        let again = try decoder.decode(Contact.self, from: record)
        #expect(again.name == decoded.name && again.kind == decoded.kind)
        #expect(decoded.cloudKitSystemFields != nil)
        decoded.cloudKitSystemFields = nil
        #expect(decoded == contact)
        let sent = try CloudKitRecordEncoder().encode(Outgoing(text: "one way"))
        #expect(try decoder.decode(Incoming.self, from: sent).text == "one way")
    }

    @Test("Unknown cases become the fallback, the first case by default, or an error")
    func fallback() throws {
        #expect(Contact.Kind.cloudKitFallbackCase == .person)
        #expect(Strict.cloudKitFallbackCase == nil)
        let record = try CloudKitRecordEncoder().encode(contact)
        record["kind"] = "robot"
        record["level"] = 7
        let decoded = try CloudKitRecordDecoder().decode(Contact.self, from: record)
        #expect(decoded.kind == .person && decoded.level == .low)
        struct Holder: Codable { var strict: Strict }
        let other = CKRecord(recordType: "Holder")
        other["strict"] = "unknown"
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Holder.self, from: other)
        }
    }

    @Test("Asset values are files in their content type, under their name")
    func assets() throws {
        let bundle = Bundle()
        let record = try CloudKitRecordEncoder().encode(bundle)
        func file(_ key: String) throws -> URL {
            try #require((record[key] as? CKAsset)?.fileURL)
        }
        #expect(try file("portrait").lastPathComponent.hasPrefix("Portrait-"))
        #expect(try file("portrait").pathExtension == "json")
        #expect(try file("settings").lastPathComponent == "Settings-settings.plist")
        #expect(try file("plain").lastPathComponent == "plain.png")
        #expect(try Data(contentsOf: file("portrait")) == Data(#"{"pixels":[1,2]}"#.utf8))
        #expect(try String(contentsOf: file("settings"), encoding: .utf8).hasPrefix("<?xml"))
        #expect(try Data(contentsOf: file("packed")).starts(with: Data("bplist".utf8)))
        #expect(try CloudKitRecordDecoder().decode(Bundle.self, from: record) == bundle)
        #expect(Portrait.filenameSuffix == ".json" && Settings.filenameSuffix == ".plist")
        #expect(try Portrait.decoded(from: Data(#"{"pixels":[]}"#.utf8), type: .json).pixels == [])
    }

    @Test("A content type that nobody can write is an error that says what to implement")
    func contentTypes() {
        struct Picture: CloudKitAssetValue {
            static var preferredContentType: UTType { .png }
            var size = 1
        }
        let error = #expect(throws: EncodingError.self) { try Picture().encoded() }
        #expect("\(String(describing: error))".contains("encoded()"))
        let mismatch = #expect(throws: DecodingError.self) {
            try Picture.decoded(from: Data(), type: .png)
        }
        #expect("\(String(describing: mismatch))".contains("decoded(from:type:)"))
    }

    @Test("Errors are matched by case, and describe themselves")
    func errors() {
        var broken = contact
        broken.cloudKitSystemFields = Data("no archive".utf8)
        do {
            _ = try CloudKitRecordEncoder().encode(broken)
            Issue.record("nothing was thrown")
        } catch CloudKitRecordEncodingError.systemFieldsDecode(let reason) {
            #expect(!reason.isEmpty)
        } catch {
            Issue.record("\(error)")
        }
        struct Large: Codable { var texts: [String: String] }
        let large = Large(texts: ["a": String(repeating: "x", count: 1_000_000)])
        do {
            _ = try CloudKitRecordEncoder().encode(large)
            Issue.record("nothing was thrown")
        } catch CloudKitRecordEncodingError.dataFieldTooLarge(let key, let size) {
            #expect(key == "texts" && size > 1_000_000)
        } catch {
            Issue.record("\(error)")
        }
        let unsupported = CloudKitRecordEncodingError.unsupportedValueForKey("key")
        #expect(unsupported.localizedDescription.contains("key"))
        #expect((unsupported as any Error).localizedDescription.contains("key"))
    }

    @Test("Requirements can be used through the protocols")
    func protocols() {
        func describe(_ value: any CloudKitRecordRepresentable) -> String {
            "\(value.cloudKitRecordType)/\(value.cloudKitIdentifier)"
        }
        func both<Value: CustomCloudKitCodable>(_ type: Value.Type) -> String { "\(type)" }
        #expect(describe(contact) == "Person/c1")
        #expect(both(Contact.self) == "Contact")
    }
}
