import CloudKit
import CloudKitStore
import Foundation
import GRDB
import Support
import Testing

@Suite("Dates before the Gregorian calendar", .timeLimit(.minutes(5)))
struct EarlyDateTests {
    private static let schema = "CREATE TABLE day (id TEXT PRIMARY KEY NOT NULL, at DATETIME)"
    private static let tables: [SyncedTable] = [.table("day")]

    /// The seconds since 1970 of dates around the first day of that calendar, of leap days that only the Julian one has,
    /// and of days of all years that GRDB writes.
    private static var seconds: [Double] {
        let day = 86_400.0
        let first = -141_427 * day
        var random = SeededRandom(seed: 1582)
        return [
            Date.distantPast.timeIntervalSince1970, Date.distantPast.timeIntervalSince1970 + 0.125,
            first, first - 0.125, first - day, first + day, first - 10 * day,
            // 1500-02-29 and 1000-02-29, and the days after them.
            -171_596 * day, -171_595 * day, -354_221 * day, -354_220 * day,
        ]
            + (0..<100).map { _ in
                Double.random(in: -62_135_000_000..<250_000_000_000, using: &random).rounded()
            }
    }

    @Test("What GRDB writes, the record has, and another device's GRDB reads, to the instant")
    func instants() async throws {
        try await withTwoDevices(tables: Self.tables, schema: Self.schema) { phone, laptop, cloud in
            let dates = Self.seconds.map { Date(timeIntervalSince1970: $0) }
            try await phone.database.write { database in
                for (place, date) in dates.enumerated() {
                    try database.execute(
                        sql: "INSERT INTO day VALUES (?, ?)",
                        arguments: ["\(place)", date]
                    )
                }
            }
            try await phone.store.sync()
            // A client without the store writes the same instants.
            let records = dates.enumerated().map { place, date in
                let record = CKRecord(recordType: "day", recordID: Device.id("day:c\(place)"))
                record["at"] = date
                return record
            }
            _ = try await phone.cloud.modifyRecords(saving: records, deleting: [])
            try await laptop.store.sync()
            let written = try await phone.cloud.records(
                for: dates.indices.map { Device.id("day:\($0)") }
            )
            let read = try await laptop.database.read { database in
                try Row.fetchAll(database, sql: "SELECT id, at FROM day").reduce(
                    into: [String: Date]()
                ) { $0[$1["id"]] = $1["at"] }
            }
            for (place, date) in dates.enumerated() {
                let record = try written[Device.id("day:\(place)")]?.get()
                #expect(record?["at"] as? Date == date, "\(date)")
                #expect(read["\(place)"] == date, "\(date)")
                #expect(read["c\(place)"] == date, "\(date)")
            }
            #expect(try await laptop.store.verify().differences == [])
            #expect(try await laptop.store.sync().saved == 0)
        }
    }
}
