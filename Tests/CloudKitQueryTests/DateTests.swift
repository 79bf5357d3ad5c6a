import CloudKit
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Dates in queries", .timeLimit(.minutes(10)))
struct DateTests {
    /// Returns one moment in whole milliseconds, computed in different ways.
    private static func dates(_ milliseconds: Int64) -> [Date] {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let sinceReference = Double(whole) - 978_307_200
        return [
            Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            Date(timeIntervalSince1970: Double(whole) + Double(rest) / 1000),
            Date(timeIntervalSinceReferenceDate: sinceReference + Double(rest) / 1000),
            Date(timeIntervalSinceReferenceDate: Double(milliseconds - 978_307_200_000) / 1000),
            Date(timeIntervalSince1970: Double(whole)).addingTimeInterval(Double(rest) * 0.001),
        ]
    }

    @Test("A date of whole milliseconds is found, whatever arithmetic made it")
    func whole() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: cloud.addUser()).privateCloudDatabase
        var chance = SeededRandom(seed: 11)
        let moments =
            (0..<40).map { _ in
                Int64.random(in: 1_500_000_000_000..<1_900_000_000_000, using: &chance)
            } + [
                0, 1, -1, 978_307_200_000, 978_307_199_999, -62_135_596_800_000,
                253_402_300_799_999,
            ]
        var bits = Set<UInt64>()
        for (index, moment) in moments.enumerated() {
            let dates = Self.dates(moment)
            bits.formUnion(dates.map(\.timeIntervalSinceReferenceDate.bitPattern))
            let records = dates.enumerated().map { place, date in
                let record = CKRecord(
                    recordType: "Item",
                    recordID: CKRecord.ID(recordName: "\(index)-\(place)")
                )
                record["d"] = date
                return record
            }
            let saved = try await database.modifyRecords(saving: records, deleting: [])
            for (recordID, result) in saved.saveResults {
                let place = try #require(Int(recordID.recordName.split(separator: "-")[1]))
                #expect(try result.get()["d"] as? Date == dates[place])
            }
            for date in dates {
                let predicate = NSPredicate(format: "d == %@", date as NSDate)
                let (found, _) = try await database.records(
                    matching: CKQuery(recordType: "Item", predicate: predicate)
                )
                #expect(
                    Set(found.map(\.0)) == Set(records.map(\.recordID)),
                    "\(moment): \(date.timeIntervalSinceReferenceDate)"
                )
                #expect(records.allSatisfy { predicate.evaluate(with: $0) }, "\(moment)")
                let earlier = NSPredicate(format: "d < %@", date as NSDate)
                #expect(!records.contains { earlier.evaluate(with: $0) }, "\(moment)")
            }
            let next = NSPredicate(
                format: "d == %@",
                Date(timeIntervalSince1970: Double(moment + 1) / 1000) as NSDate
            )
            #expect(!records.contains { next.evaluate(with: $0) }, "\(moment)")
        }
        // Otherwise nothing was tested.
        #expect(bits.count > moments.count)
    }
}
