import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Bytes that spell null")
struct NullBytesTests {
    private static let null = Data("null".utf8)

    /// Bytes as a single value.
    struct Blob: Codable, Equatable {
        var data: Data

        init(_ data: Data) { self.data = data }

        init(from decoder: any Decoder) throws {
            data = try decoder.singleValueContainer().decode(Data.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(data)
        }
    }

    struct Parcel: CloudKitModel, Equatable {
        var data: Data? = null
        var secret: Data? = null
        var scan: Data? = null
        var letter: Data? = null
        var blob: Blob? = Blob(null)
        var list: [Data] = [null]
        var renamed: Data? = null
        var text: String? = "null"
        var recordName: String { "parcel" }

        static var fields: CloudKitFields {
            [
                CodingKeys.secret: .encrypted,
                CodingKeys.scan: .asset,
                CodingKeys.letter: .asset(above: 100),
                CodingKeys.renamed: .named("other"),
            ]
        }
    }

    @Test("They stay those bytes, whatever else the model declares")
    func bytes() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let database = try await cloud.device(of: ada).privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Null"))
        let saved = try await database.save(Parcel(), in: zone.zoneID)
        #expect(try await database.graph(Parcel.self, for: saved.rootID).root == Parcel())
        let record = try await database.record(for: saved.rootID)
        #expect(try CloudKitRecordDecoder().decode(Parcel.self, from: record) == Parcel())
    }

    @Test("Where they are JSON's null they are nil")
    func json() throws {
        struct Note: Codable, Equatable {
            var text: String?
            var theme: Theme?
            var number: Int?
        }
        let record = CKRecord(recordType: "Note")
        for key in ["text", "theme", "number"] { record[key] = Self.null }
        #expect(try CloudKitRecordDecoder().decode(Note.self, from: record) == Note())
    }
}
