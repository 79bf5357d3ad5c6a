import BenchmarkHarness
import CloudKit
import CloudKitCodable
import Foundation

extension Area {
    /// Encodes and decodes a type of CloudKitCodable: ten fields, and the system fields of a saved
    /// record.
    ///
    /// The floors map the same fields by hand and keep the system fields as Apple's documentation
    /// shows it, with Foundation's archivers.
    static func dropIns() throws -> [Benchmark] {
        let archive = SystemFields.ofSavedRecord
        let value = DropIn(cloudKitSystemFields: archive)
        let record = try CloudKitRecordEncoder().encode(value)
        let byHand = try value.record()
        guard record.recordChangeTag == "3a", byHand.recordChangeTag == "3a",
            record.recordID == byHand.recordID, record.allKeys() == byHand.allKeys(),
            record.creationDate == byHand.creationDate,
            try value.hasFields(of: CloudKitRecordDecoder().decode(DropIn.self, from: record)),
            try value.hasFields(of: DropIn(record: record)),
            SystemFields.record(try DropIn(record: record).cloudKitSystemFields)?.recordChangeTag
                == "3a"
        else { throw Unequal() }
        return [
            .time(
                "dropin-encode-10",
                .atMost(0.5),
                subject: Work("Codable") { keep(try CloudKitRecordEncoder().encode(value)) },
                floor: Work("assignments") { keep(try value.record()) }
            ),
            .time(
                "dropin-decode-10",
                .atMost(0.1),
                subject: Work("Codable") {
                    keep(try CloudKitRecordDecoder().decode(DropIn.self, from: record))
                },
                floor: Work("reads") { keep(try DropIn(record: record)) }
            ),
            try systemFields(archive),
        ]
    }
}

extension Area {
    /// Compares the archive of system fields, read and written again, to Foundation's archivers.
    ///
    /// The subject is a type with nothing but the archive, because an app reaches ours through the
    /// mapper alone: `encodeSystemFields(with:)` takes the archiver that the app made.
    private static func systemFields(_ archive: Data) throws -> Benchmark {
        let value = SystemFieldsAlone(cloudKitSystemFields: archive)
        let ours = try value.readAndWritten()
        guard let record = SystemFields.record(archive), let read = SystemFields.record(ours),
            read.recordChangeTag == "3a", read.recordID == record.recordID,
            read.modificationDate == record.modificationDate
        else { throw Unequal() }
        return .time(
            "system-fields",
            .atMost(0.1),
            subject: Work("mapper") { keep(try value.readAndWritten()) },
            floor: Work("Foundation's archivers") {
                keep(SystemFields.record(archive).map(SystemFields.archive))
            }
        )
    }
}

/// A model without fields of its own.
private struct SystemFieldsAlone: CustomCloudKitCodable, Sendable {
    var cloudKitSystemFields: Data?

    var cloudKitRecordType: String { "DropIn" }

    func readAndWritten() throws -> Data? {
        let record = try CloudKitRecordEncoder().encode(self)
        return try CloudKitRecordDecoder().decode(Self.self, from: record).cloudKitSystemFields
    }
}

/// A model as users of CloudKitCodable write it, and a hand-written mapping.
private struct DropIn: CustomCloudKitCodable, Sendable {
    var cloudKitSystemFields: Data?
    var fields = TenFields()

    init(cloudKitSystemFields: Data?) { self.cloudKitSystemFields = cloudKitSystemFields }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(cloudKitSystemFields, forKey: .cloudKitSystemFields)
        try fields.encode(to: encoder)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        cloudKitSystemFields = try container.decode(Data?.self, forKey: .cloudKitSystemFields)
        fields = try TenFields(from: decoder)
    }

    private enum Key: CodingKey { case cloudKitSystemFields }

    /// Reads a record field by field.
    init(record: CKRecord) throws {
        fields = try TenFields(record: record)
        cloudKitSystemFields = SystemFields.archive(record)
    }

    /// Writes a record field by field.
    func record() throws -> CKRecord {
        guard let record = SystemFields.record(cloudKitSystemFields) else {
            throw CKError(.invalidArguments)
        }
        fields.assign(to: record)
        return record
    }

    func hasFields(of other: DropIn) -> Bool { fields == other.fields }
}

/// The system fields of a record as an app keeps them.
private enum SystemFields {
    /// The archive of a record that a server has.
    static var ofSavedRecord: Data {
        let user = CKRecord.ID(recordName: "_5e1f6b1c3a5d4f7e8a9b0c1d2e3f4a5b")
        let zoneID = CKRecordZone.ID(zoneName: "Benchmarks")
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("DropIn" as NSString, forKey: "RecordType")
        archiver.encode(
            CKRecord.ID(recordName: "9D3D3C52-5E0B-4D4B-9B8B-2C8F6A1E7D10", zoneID: zoneID),
            forKey: "RecordID"
        )
        archiver.encode("3a" as NSString, forKey: "ETag")
        archiver.encode(NSDate(timeIntervalSince1970: 1_767_225_600), forKey: "RecordCtime")
        archiver.encode(NSDate(timeIntervalSince1970: 1_767_225_900.5), forKey: "RecordMtime")
        archiver.encode(user, forKey: "CreatorUserRecordID")
        archiver.encode(user, forKey: "LastModifiedUserRecordID")
        archiver.finishEncoding()
        return archiver.encodedData
    }

    static func archive(_ record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    static func record(_ data: Data?) -> CKRecord? {
        // The benchmark fails without a record.
        guard let data, let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }
}
