import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("One model, one type of field")
struct ModelFormTests {
    struct Plain: CloudKitModel, Equatable, Identifiable {
        var id: UUID
        var price: Decimal
        var page: URL
        var colours: [Colour]
        var keys: [UUID]
        var friend: CloudKitReference<Photo>?
        var friends: [Photo] = []
    }

    let zoneID = CKRecordZone.ID(zoneName: "World")

    private var plain: Plain {
        Plain(
            id: UUID(),
            price: 1.5,
            page: URL(string: "https://example.com")!,
            colours: [.red],
            keys: [UUID()],
            friend: CloudKitReference(recordName: "f")
        )
    }

    @Test(
        "A model saved by itself and in a graph is the same record",
        arguments: CloudFixture.allCases
    )
    func sameRecord(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            try await database.save(CKRecordZone(zoneID: zoneID))
            var value = plain
            let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(value)
            #expect(record["id"] == value.id.uuidString)
            let saved = try await database.save(record)
            value.price = 2
            // The server accepts only the type that a field already has.
            let graph = try await database.save(value, in: zoneID, onto: [saved])
            #expect(try await database.graph(Plain.self, for: graph.rootID).root == value)
            value.price = 3
            let known = try #require(graph.records.first?.copy() as? CKRecord)
            try CloudKitRecordEncoder(zoneID: zoneID).encode(value, onto: known)
            #expect(known.changedKeys() == ["price"])
            let loaded = try await database.save(known)
            #expect(try CloudKitRecordDecoder().decode(Plain.self, from: loaded) == value)
        }
    }

    struct Raw<Value: Codable & Sendable>: CloudKitModel {
        var value: Value
        var recordName: String { "raw" }
    }

    @Test("A generic model that states no record type is refused by the encoder as by a graph")
    func generic() {
        let remedy = "Raw<Int> cannot be a record type: state one"
        let unknown: any Encodable = Raw(value: 1)
        let encodings: [() throws -> CKRecord] = [
            { try CloudKitRecordEncoder().encode(Raw(value: 1)) },
            { try CloudKitRecordEncoder().encode(unknown) },
        ]
        for encode in encodings {
            let error = #expect(throws: EncodingError.self) { try encode() }
            guard case .invalidValue(_, let context)? = error else { continue }
            #expect(context.debugDescription.contains(remedy))
        }
        let error = #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphEncoder(zoneID: zoneID).encode(Raw(value: 1))
        }
        #expect(error?.code == .invalidName && error?.message.contains(remedy) == true)
    }

    @Test("A type of the original library keeps its forms")
    func original() throws {
        struct Old: Codable { var id = UUID() }
        #expect(try CloudKitRecordEncoder().encode(Old())["id"] as Data? != nil)
    }

    @Test("Models in a model are not put into its record, and not read out of it")
    func modelsWithin() throws {
        var value = plain
        value.friends = [Photo(id: "p")]
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder(zoneID: zoneID).encode(value)
        }
        let text = "\(try #require(error))"
        #expect(text.contains("friends") && text.contains("CloudKitGraphEncoder"))
        #expect(text.contains(".json"))

        let record = try #require(
            try CloudKitGraphEncoder(zoneID: zoneID).encode(value).records.last
        )
        let unread = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Plain.self, from: record)
        }
        #expect("\(try #require(unread))".contains("CloudKitGraphDecoder"))
        let album = Album(id: "a", title: "t", photos: [])
        let alone = try CloudKitRecordEncoder(zoneID: zoneID).encode(album)
        #expect(alone.allKeys() == ["id", "title"])
        let children = #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Album.self, from: alone)
        }
        #expect("\(try #require(children))".contains("graph(_:for:)"))
    }

    @Test("An error of a value inside keeps its remedy, and names the field")
    func remedy() throws {
        struct Large: CloudKitModel {
            var notes: [String: String] = [:]
            var recordName: String { "large" }
        }
        let large = Large(notes: ["a": String(repeating: "x", count: 1_000_000)])
        let error = try #require(
            #expect(throws: CloudKitGraphError.self) {
                try CloudKitGraphEncoder(zoneID: zoneID).encode(large)
            }
        )
        #expect(error.code == .notEncodable)
        #expect(error.codingPath.map(\.stringValue) == ["notes"])
        #expect(error.message.contains("conform its type to CloudKitAssetValue"))
    }
}
