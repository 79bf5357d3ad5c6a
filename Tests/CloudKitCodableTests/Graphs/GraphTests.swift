import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("Graphs")
struct GraphTests {
    let zoneID = CKRecordZone.ID(zoneName: "World")

    @Test("Every nested model is a record, and targets come before sources")
    func encoding() throws {
        let atlas = Atlas.sample(countries: 3, timeZones: 2)
        let graph = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas)
        #expect(graph.records.count == 1 + 3 + 6)
        #expect(graph.records.last?.recordID == graph.rootID)
        #expect(graph.records.allSatisfy { $0.recordID.zoneID == zoneID })
        var seen: Set<CKRecord.ID> = []
        for record in graph.records {
            for key in record.allKeys() {
                let references: [CKRecord.Reference]? =
                    record.recordType == "TimeZoneEntry" ? nil : record[key]
                for reference in references ?? [] { #expect(seen.contains(reference.recordID)) }
            }
            seen.insert(record.recordID)
        }
        let zone = try #require(
            graph.records.first { $0.recordID.recordName == "zone-Area1-City1" }
        )
        let coordinate: CLLocation? = zone["coordinate"]
        #expect(coordinate?.coordinate.longitude == 1)
        #expect(zone["comments"] == "most of it")
    }

    @Test("A graph decodes from its records without a request")
    func decoding() throws {
        let atlas = Atlas.sample()
        let graph = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas)
        let decoded = try CloudKitGraphDecoder().decode(
            Atlas.self,
            from: graph.records.shuffled(),
            root: graph.rootID
        )
        #expect(decoded == atlas)
        let countries = try CloudKitGraphDecoder().decodeAll(Country.self, from: graph.records)
        #expect(countries == atlas.countries)
    }

    @Test("Loading takes one request for each level")
    func loading() async throws {
        let atlas = Atlas.sample(countries: 20, timeZones: 5)
        let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas)
        let source = MemorySource(encoded.records)
        let progress = Progress(totalUnitCount: 0)
        let graph = try await source.graph(Atlas.self, for: encoded.rootID, progress: progress)
        #expect(graph.root == atlas)
        #expect(source.requests == [1, 20, 100])
        #expect(graph.records.count == 121)
        #expect(progress.completedUnitCount == 121 && progress.totalUnitCount == 121)
    }

    @Test("Encoding onto known records changes only what differs")
    func difference() async throws {
        var atlas = Atlas.sample()
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: try await cloud.addUser("Ada"))
            .privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let saved = try await database.save(atlas, in: zoneID)
        let known = saved.records
        #expect(
            try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas, onto: known).changed.isEmpty
        )

        atlas.countries[1].timeZones[1].comments = nil
        let second = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas, onto: known)
        #expect(second.changed.map(\.recordID.recordName) == ["zone-Area1-City1"])
        #expect(second.changed.first?.changedKeys() == ["comments"])
        #expect(second.changed.first?["comments"] as String? == nil)

        withExtendedLifetime(saved) {}
        let removed = atlas.countries.removeLast()
        let third = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas, onto: known)
        #expect(
            Set(third.orphans.map(\.recordName))
                == Set([removed.recordName] + removed.timeZones.map(\.recordName))
        )
    }
}
