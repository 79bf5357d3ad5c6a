import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Support
import Testing

// The models come from the guide's code blocks.
@Suite("What the guide to graphs shows")
struct GraphGuideTests {
    private static let vienna = TimeZoneEntry(
        name: "Europe/Vienna",
        coordinate: CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 48.2, longitude: 16.3),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date(timeIntervalSinceReferenceDate: 1000)
        )
    )

    private static let atlas = Atlas(
        countries: [Country(code: "AT", name: "Austria", timeZones: [vienna])],
        source: Data("# zones".utf8)
    )

    private func run(
        _ fixture: CloudFixture,
        _ body: @escaping @Sendable (CKDatabase, CKDatabase, CKRecordZone) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            let zone = try await database.save(CKRecordZone(zoneName: "Atlas"))
            try await body(database, try await cloud.database(of: user), zone)
        }
    }

    @Test("One model", arguments: CloudFixture.allCases)
    func oneModel(fixture: CloudFixture) async throws {
        try await run(fixture) { database, other, zone in
            var entry = Self.vienna
            let record = try CloudKitRecordEncoder(zoneID: zone.zoneID).encode(entry)
            #expect(try CloudKitRecordDecoder().decode(TimeZoneEntry.self, from: record) == entry)
            var saved = try await database.save(record)
            for comments in ["most of it", nil] as [String?] {
                entry.comments = comments
                try CloudKitRecordEncoder().encode(entry, onto: saved)
                #expect(saved.changedKeys() == ["comments"])
                saved = try await database.save(saved)
                let loaded = try await other.record(for: saved.recordID)
                let read = try CloudKitRecordDecoder().decode(TimeZoneEntry.self, from: loaded)
                #expect(read == entry)
            }
        }
    }

    @Test(
        "Save, load, edit, save; a conflict; the zone's changes",
        arguments: CloudFixture.allCases
    )
    func saveAndLoad(fixture: CloudFixture) async throws {
        try await run(fixture) { database, other, zone in
            let progress = Progress(totalUnitCount: 0)
            try await database.save(Self.atlas, in: zone.zoneID, progress: progress)
            #expect(progress.completedUnitCount == 3)
            let atlasID = CKRecord.ID(recordName: "atlas", zoneID: zone.zoneID)
            var graph = try await database.graph(Atlas.self, for: atlasID)
            #expect(graph.root == Self.atlas)
            graph.root.countries[0].name = "Österreich"
            graph.root.remarks = "checked"
            try await database.save(&graph)
            #expect(try await other.graph(Atlas.self, for: atlasID).root == graph.root)

            var theirs = try await other.graph(Atlas.self, for: atlasID)
            theirs.root.remarks = nil
            try await other.save(&theirs)
            graph.root.remarks = "twice"
            do {
                try await database.save(&graph)
                Issue.record("the server has a newer version")
            } catch let error as CKError {
                let newer = try #require(error.serverRecord)
                let known = graph.records.filter { $0.recordID != newer.recordID } + [newer]
                try await database.save(graph.root, in: zone.zoneID, onto: known)
            }
            #expect(try await other.graph(Atlas.self, for: atlasID).root == graph.root)

            let changes = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID,
                since: nil
            )
            let records = try changes.modificationResultsByID.values.map { try $0.get().record }
            let shared = try CloudKitGraphDecoder().decode(Atlas.self, from: records, root: atlasID)
            #expect(shared == graph.root)
        }
    }

    @Test(
        "Three photos, one is removed: two are loaded, and so on to the end",
        arguments: CloudFixture.allCases
    )
    func album(fixture: CloudFixture) async throws {
        try await run(fixture) { database, other, zone in
            func photos(_ id: String) async throws -> [String] {
                let recordID = CKRecord.ID(recordName: id, zoneID: zone.zoneID)
                return try await other.graph(Album.self, for: recordID).root.photos.map(\.id)
            }
            let three = (1...3).map { Photo(id: "photo-\($0)") }
            var summer = try await database.save(
                Album(id: "summer", photos: three),
                in: zone.zoneID
            )
            var winter = try await database.save(Album(id: "winter", photos: []), in: zone.zoneID)
            #expect(try await photos("summer") == three.map(\.id))

            winter.root.photos.append(summer.root.photos.removeFirst())
            try winter.takeRecords(from: &summer)
            try await database.save(&winter)
            try await database.save(&summer)
            #expect(try await photos("winter") == ["photo-1"])
            #expect(try await photos("summer") == ["photo-2", "photo-3"])

            summer.root.photos.removeLast()
            summer.root.cover = CloudKitReference(to: summer.root.photos[0])
            try await database.save(&summer)
            #expect(try await photos("summer") == ["photo-2"])
            let loaded = try await other.graph(Album.self, for: summer.rootID)
            #expect(loaded.root == summer.root)
            let cover = try #require(loaded.root.cover).recordID(in: zone.zoneID)
            #expect(try await other.graph(Photo.self, for: cover).root.id == "photo-2")
            try await database.delete(winter)
            await #expect(throws: CloudKitGraphError.self) { try await photos("winter") }
        }
    }

    @Test("The schema of samples, and what is deployed lacks of it")
    func schema() throws {
        let album = Album(id: "summer", photos: [Photo(id: "photo-1")])
        let needed = try CloudKitSchema(describing: [Self.atlas, album])
        let text = needed.text
        for line in ["source    ASSET", "notes     ENCRYPTED STRING", "cover REFERENCE"] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(needed.differences(from: needed).isEmpty)
        let deployed = try CloudKitSchema(parsing: text.replacing("comments   STRING,", with: ""))
        let lacking = needed.differences(from: deployed)
        #expect(
            lacking == [.missingField("comments", type: "STRING", recordType: "TimeZoneEntry")]
        )
    }
}
