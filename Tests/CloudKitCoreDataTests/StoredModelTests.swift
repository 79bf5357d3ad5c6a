import CloudKitCodable
import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data models: in stores")
struct StoredModelTests {
    @Test("The model in a SwiftData store is read with defaults, encryption and inheritance")
    func swiftData() throws {
        let model = try CoreDataModel(cachedInStoreAt: Fixture.url("Trips.store"))
        #expect(model.versionIdentifiers == ["1.0.0"])
        let trip = try #require(model.entity(named: "Trip"))
        #expect(trip.attribute(named: "name")?.defaultValue == .string(""))
        #expect(trip.attribute(named: "name")?.isOptional == false)
        #expect(trip.attribute(named: "tags")?.type == .transformable)
        #expect(trip.attribute(named: "mode")?.type == .composite)
        #expect(
            trip.attribute(named: "began")?.defaultValue
                == .date(Date(timeIntervalSinceReferenceDate: 60))
        )
        let key = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
        #expect(trip.attribute(named: "key")?.defaultValue == .uuid(key))
        let price = Decimal(sign: .plus, exponent: -2, significand: 1011)
        #expect(trip.attribute(named: "price")?.defaultValue == .decimal(price))
        #expect(trip.attribute(named: "secret")?.allowsCloudEncryption == true)
        #expect(trip.attribute(named: "text")?.renamingIdentifier == "body")
        #expect(trip.attribute(named: "name")?.renamingIdentifier == nil)
        let camp = try #require(model.entity(named: "Camp"))
        #expect(camp.parent == "Stop")
        #expect(camp.attributes.map(\.name) == ["tents"])
        #expect(camp.relationships.isEmpty)
        let weather = model.entity(named: "Stop")?.relationship(named: "weather")
        #expect(weather?.inverseName == nil)
        #expect(weather?.isToMany == false)
        #expect(model.unknownParts.contains { $0.name == "NSFutureKey" && $0.value == "7" })
    }

    @Test("An ordered relationship is known from the column that keeps its order")
    func ordered() throws {
        let stored = try CoreDataModel(cachedInStoreAt: Fixture.url("Trips.store"))
        #expect(stored.entity(named: "Trip")?.relationship(named: "stops")?.isOrdered == true)
        let compiled = try CoreDataModelVersions(contentsOf: Fixture.url("Trips.mom")).current
        #expect(compiled.entity(named: "Trip")?.relationship(named: "stops")?.isOrdered == false)
    }

    @Test("A model that is only in the write-ahead log is found, and no file changes")
    func writeAheadLog() throws {
        try Fixture.inFolder { folder in
            let file = folder.appendingPathComponent("Live.store")
            try FileManager.default.copyItem(at: Fixture.url("Empty.store"), to: file)
            let content = try DatabaseQueue(path: Fixture.url("Trips.store").path).read {
                try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
            }
            let live = try DatabasePool(path: file.path)
            try live.write {
                try $0.execute(sql: "INSERT INTO Z_MODELCACHE VALUES (?)", arguments: [content])
            }
            func files() throws -> [String: Data] {
                try ["", "-wal"].reduce(into: [:]) {
                    $0[$1] = try Data(contentsOf: URL(fileURLWithPath: file.path + $1))
                }
            }
            let before = try files()
            let model = try CoreDataModel(cachedInStoreAt: file)
            #expect(model.entities.map(\.name) == ["Camp", "Stop", "Trip", "Weather"])
            #expect(try files() == before)
            try live.close()
        }
    }

    @Test("A store without a model, a file that is no store, and no file are errors")
    func noModel() throws {
        for name in ["Empty.store", "make-fixtures.py", "none.store"] {
            let error = try Fixture.failure {
                _ = try CoreDataModel(cachedInStoreAt: Fixture.url(name))
            }
            #expect(error.code == .unreadable)
            #expect(error.description.contains(name))
        }
        let error = try Fixture.failure {
            _ = try CoreDataModelVersions(contentsOf: Fixture.url("Trips.store"))
        }
        #expect(error.description.contains("--store"))
    }

    @Test("Bytes that inflate to gigabytes are refused")
    func bomb() throws {
        // A block of 258 zeros, repeated, written by hand: fixed codes, one literal, then matches.
        let file = Fixture.url("Bomb.deflate")
        let error = try Fixture.failure {
            _ = try CoreDataModel(archived: Data(contentsOf: file))
        }
        #expect(error.code == .tooLarge)
    }

    @Test("Its schema has one field for each value, text for links, and one type for a hierarchy")
    func schema() throws {
        let model = try CoreDataModel(cachedInStoreAt: Fixture.url("Trips.store"))
        let schema = try CloudKitSchema(mirroring: model)
        #expect(
            schema.recordTypes.map(\.name)
                == ["CD_Stop", "CD_Trip", "CD_Weather", "Users", "cloudkit.share"]
        )
        let stop = try #require(schema.recordTypes.first)
        let fields = Dictionary(uniqueKeysWithValues: stop.fields.map { ($0.name, $0.type) })
        #expect(fields["CD_tents"] == "INT64")
        #expect(fields["CD_trip"] == "STRING")
        #expect(fields["CD_trip_ckAsset"] == nil)
        let trip = schema.recordTypes[1].fields.map { "\($0.name) \($0.type)" }
        #expect(trip.contains("CD_mode BYTES"))
        #expect(trip.contains("CD_mode_ckAsset ASSET"))
        #expect(trip.contains("CD_secret ENCRYPTED STRING"))
        #expect(!trip.contains { $0.hasPrefix("CD_stops") })
    }
}
