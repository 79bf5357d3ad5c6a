import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Lists of raw values")
struct ListTests {
    struct Stamp: RawRepresentable, Codable, Equatable {
        var rawValue: Date
    }

    struct Key: RawRepresentable, Codable, Equatable, Hashable {
        var rawValue: Data
    }

    /// A raw value that is coded as its raw value.
    struct Moment: RawRepresentable, Codable, Equatable {
        var rawValue: Date

        init(rawValue: Date) { self.rawValue = rawValue }

        init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode(Date.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }
    }

    struct Lists: CloudKitModel, Equatable {
        var stamps: [Stamp]
        var keys: [Key]
        var moments: [Moment]
        var keySet: Set<Key>
        var recordName: String { "lists" }
    }

    @Test("A list of raw dates or data has one type of field, empty or full")
    func oneType() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let date = Date(timeIntervalSince1970: 1_000)
        let full = Lists(
            stamps: [Stamp(rawValue: date)],
            keys: [
                Key(rawValue: Data(#"{"rawValue":""}"#.utf8)), Key(rawValue: Data("null".utf8)),
            ],
            moments: [Moment(rawValue: date)],
            keySet: [Key(rawValue: Data([1])), Key(rawValue: Data([2]))]
        )
        let empty = Lists(stamps: [], keys: [], moments: [], keySet: [])
        for lists in [empty, full, empty] {
            let saved = try await database.save(lists, in: zone.zoneID, savePolicy: .changedKeys)
            let record = try await database.record(for: saved.rootID)
            #expect(record["stamps"] is [Date] && record["moments"] is [Date])
            #expect(record["keys"] is [Data] && record["keySet"] is [Data])
            #expect(try await database.graph(Lists.self, for: saved.rootID).root == lists)
        }
    }
}
