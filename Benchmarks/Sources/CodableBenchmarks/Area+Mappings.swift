import BenchmarkHarness
import CloudKit
import CloudKitCodable
import Foundation

extension Area {
    #if Macros
    static func mappings(
        _ ten: TenFields,
        _ fifty: FiftyFields,
        _ zoneID: CKRecordZone.ID
    ) throws -> [Benchmark] {
        try mappings(TenMappedFields(), "10", zoneID, { try TenFields(record: $0) }) {
            ten.record(in: zoneID)
        }
            + mappings(FiftyMappedFields(), "50", zoneID, { try FiftyFields(record: $0) }) {
                fifty.record(in: zoneID)
            }
    }

    /// Compares the mapping that `@CloudKitRecord` generates to a hand-written one.
    private static func mappings<Mapped, ByHand>(
        _ value: Mapped,
        _ count: String,
        _ zoneID: CKRecordZone.ID,
        _ read: @escaping @Sendable (CKRecord) throws -> ByHand,
        _ write: @escaping @Sendable () -> CKRecord
    ) throws -> [Benchmark]
    where
        Mapped: CloudKitMappedModel & Equatable & Sendable,
        ByHand: CloudKitModel & Equatable & Sendable
    {
        let encoder = CloudKitRecordEncoder(zoneID: zoneID)
        let record = try encoder.encode(value)
        let byHand = write()
        let values = [record, byHand].map { record in
            record.allKeys().map { record.object(forKey: $0) as? NSObject }
        }
        guard record.recordID == byHand.recordID, record.recordType == byHand.recordType,
            record.allKeys() == byHand.allKeys(), values[0] == values[1],
            try CloudKitRecordDecoder().decode(Mapped.self, from: byHand) == value,
            try read(record) == read(byHand)
        else { throw Unequal() }
        return [
            .time(
                "macro-encode-\(count)",
                .atMost(1.15),
                subject: Work("mapping") {
                    keep(try CloudKitRecordEncoder(zoneID: zoneID).encode(value))
                },
                floor: Work("assignments") { keep(write()) }
            ),
            .time(
                "macro-decode-\(count)",
                .atMost(1.15),
                subject: Work("mapping") {
                    keep(try CloudKitRecordDecoder().decode(Mapped.self, from: record))
                },
                floor: Work("reads") { keep(try read(record)) }
            ),
        ]
    }
    #else
    /// Returns no benchmarks, because without the macros there are no generated mappings.
    static func mappings(
        _ ten: TenFields,
        _ fifty: FiftyFields,
        _ zoneID: CKRecordZone.ID
    ) throws -> [Benchmark] { [] }
    #endif
}
