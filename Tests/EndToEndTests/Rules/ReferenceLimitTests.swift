import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Rules: how many references")
struct ReferenceLimitTests {
    private static let zone = CKRecordZone(zoneName: "Z")

    private static func record(_ name: String) -> CKRecord {
        let recordID = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
        return CKRecord(recordType: "Note", recordID: recordID)
    }

    @Test(
        "750 deleteSelf references to a target are taken, one more is limitExceeded",
        arguments: CloudFixture.allCases
    )
    func deleteSelf(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(Self.zone)
            let target = try await database.save(Self.record("target"))
            func sources(_ numbers: Range<Int>) -> [CKRecord] {
                numbers.map { number in
                    let source = Self.record("s\(number)")
                    source["target"] = CKRecord.Reference(record: target, action: .deleteSelf)
                    return source
                }
            }
            for numbers in [0..<400, 400..<750] {
                let saved = try await database.modifyRecords(
                    saving: sources(numbers),
                    deleting: []
                )
                for result in saved.saveResults.values { _ = try result.get() }
            }
            let last = try #require(sources(750..<751).first)
            let error = await expectCKError(.limitExceeded) { try await database.save(last) }
            #expect(error?.localizedDescription.contains("target") == true)
            await expectCKError(.unknownItem) { try await database.record(for: last.recordID) }
            // References without an action are not counted, and a deletion frees space.
            last["target"] = CKRecord.Reference(record: target, action: .none)
            try await database.save(last)
            try await database.deleteRecord(withID: Self.record("s0").recordID)
            last["target"] = CKRecord.Reference(record: target, action: .deleteSelf)
            try await database.save(last)
        }
    }
}
