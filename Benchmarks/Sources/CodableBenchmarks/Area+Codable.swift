public import BenchmarkHarness
import CloudKit
import CloudKitCodable
import Foundation

extension Area {
    /// Encodes and decodes one record of 10 and of 50 mixed fields, and graphs of a parent with many
    /// children.
    ///
    /// The floors are hand-written assignments and reads, which know every field and check nothing,
    /// and Foundation's JSON coders on the same value; for types with system fields, Foundation's archivers.
    public static let codable = Area(name: "codable") {
        let zoneID = CKRecordZone.ID(zoneName: "Benchmarks")
        let ten = TenFields()
        let fifty = FiftyFields()
        return try benchmarks(ten, "10", zoneID, { try TenFields(record: $0) }) {
            $0.record(in: zoneID)
        }
            + benchmarks(fifty, "50", zoneID, { try FiftyFields(record: $0) }) {
                $0.record(in: zoneID)
            }
            + mappings(ten, fifty, zoneID) + dropIns() + perField(ten, fifty, zoneID)
            + graphs(zoneID)
    }

    /// An error that indicates that output and input differ.
    struct Unequal: Error {}

    private static func benchmarks<Value: CloudKitModel & Equatable & Sendable>(
        _ value: Value,
        _ count: String,
        _ zoneID: CKRecordZone.ID,
        _ read: @escaping @Sendable (CKRecord) throws -> Value,
        _ write: @escaping @Sendable (Value) -> CKRecord
    ) throws -> [Benchmark] {
        let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(value)
        let json = try JSONEncoder().encode(value)
        let byHand = write(value)
        // The work must be the same on both sides, or the ratio is meaningless.
        guard try CloudKitRecordDecoder().decode(Value.self, from: byHand) == value,
            try read(record) == value, record.allKeys() == byHand.allKeys(),
            try JSONDecoder().decode(Value.self, from: json) == value
        else { throw Unequal() }
        let encode = Work("Codable") {
            keep(try CloudKitRecordEncoder(zoneID: zoneID).encode(value))
        }
        let decode = Work("Codable") {
            keep(try CloudKitRecordDecoder().decode(Value.self, from: record))
        }
        return [
            .time(
                "encode-\(count)",
                .atMost(2.0),
                subject: encode,
                floor: Work("assignments") { keep(write(value)) }
            ),
            .time(
                "decode-\(count)",
                .atMost(3.0),
                subject: decode,
                floor: Work("reads") { keep(try read(record)) }
            ),
            .time(
                "encode-json-\(count)",
                .atMost(1.0),
                subject: encode,
                floor: Work("JSONEncoder") { keep(try JSONEncoder().encode(value)) }
            ),
            .time(
                "decode-json-\(count)",
                .atMost(1.0),
                subject: decode,
                floor: Work("JSONDecoder") {
                    keep(try JSONDecoder().decode(Value.self, from: json))
                }
            ),
        ]
    }

    private static func perField(
        _ ten: TenFields,
        _ fifty: FiftyFields,
        _ zoneID: CKRecordZone.ID
    ) throws -> [Benchmark] {
        let encoder = CloudKitRecordEncoder(zoneID: zoneID)
        let small = try encoder.encode(ten)
        let large = try encoder.encode(fifty)
        return [
            .time(
                "decode-per-field",
                .atMost(1.3),
                subject: Work("50 fields", units: 50) {
                    keep(try CloudKitRecordDecoder().decode(FiftyFields.self, from: large))
                },
                floor: Work("10 fields", units: 10) {
                    keep(try CloudKitRecordDecoder().decode(TenFields.self, from: small))
                }
            )
        ]
    }

    private static func graphs(_ zoneID: CKRecordZone.ID) throws -> [Benchmark] {
        let encoder = CloudKitGraphEncoder(zoneID: zoneID)
        let small = Parent(children: 400)
        let large = Parent(children: 4000)
        let fewer = try encoder.encode(small)
        let more = try encoder.encode(large)
        let decoder = CloudKitGraphDecoder()
        guard try decoder.decode(Parent.self, from: more.records, root: more.rootID) == large
        else { throw Unequal() }
        return [
            .time(
                "encode-4000-children",
                .atMost(12),
                subject: Work("4000") { keep(try encoder.encode(large)) },
                floor: Work("400") { keep(try encoder.encode(small)) }
            ),
            .time(
                "decode-4000-children",
                .atMost(12),
                subject: Work("4000") {
                    keep(try decoder.decode(Parent.self, from: more.records, root: more.rootID))
                },
                floor: Work("400") {
                    keep(try decoder.decode(Parent.self, from: fewer.records, root: fewer.rootID))
                }
            ),
            try .load(zoneID),
            .requests(zoneID),
        ]
    }
}
