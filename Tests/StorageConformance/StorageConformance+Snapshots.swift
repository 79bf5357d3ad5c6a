import CloudKitServerCore
import CloudKitWire
import Foundation
import Testing

extension StorageConformance {
    static let snapshots: [Check] = [
        Check(testDescription: "A snapshot brings back rows, also where others took their numbers")
        {
            storage in
            try await storage.write { writer in
                let world = try Self.world(writer, "c")
                let entry = try writer.entries(IndexScan(zone: world.zone, index: 1, limit: 9))
                let snapshot = StoredSnapshot(container: "c", name: "s", created: 5)
                try writer.addSnapshot(snapshot, of: [world.environment], documents: ["d/1"])
                #expect(try writer.snapshots("c") == [snapshot])
                #expect(try writer.snapshots("other") == [])
                try Self.remove(world, writer)
                #expect(try writer.record(world.zone, name: "a") == nil)
                #expect(try writer.zone(world.zone) == nil)
                #expect(try writer.documents("d/1") == [])
                #expect(try writer.documents("d/1/x") == [])
                #expect(try writer.documents("d/12").count == 1)
                // Another container takes the free numbers.
                let other = try Self.world(writer, "other", documents: "e")
                try writer.restoreSnapshot("c", "s")
                let zone = try #require(try writer.zone(world.database, name: "zone"))
                #expect((zone.id, zone.headSequence) == (world.zone, 7))
                #expect(zone.id != other.zone)
                let record = try #require(try writer.record(world.zone, name: "a"))
                #expect(record.fields == Data("{}".utf8))
                let back = try writer.entries(IndexScan(zone: world.zone, index: 1, limit: 9))
                #expect(back.map(\.key) == entry.map(\.key))
                #expect(back.map(\.record) == [record.id])
                #expect(
                    try writer.references(world.zone, to: "t", in: "").map(\.source) == [record.id]
                )
                #expect(try writer.schema(world.environment) == Data([4]))
                #expect(try writer.database(world.database)?.headSequence == 3)
                #expect(try writer.documents("d/1/x").map(\.name) == ["n"])
                #expect(try writer.record(other.zone, name: "a")?.id != record.id)
                try writer.removeSnapshot("c", "s")
                #expect(try writer.snapshots("c") == [])
            }
        },
        Check(testDescription: "A comparison of snapshots finds what differs, both ways") {
            storage in
            try await storage.write { writer in
                let world = try Self.world(writer, "c")
                let environments = [world.environment]
                func take(_ name: String) throws {
                    let snapshot = StoredSnapshot(container: "c", name: name, created: 5)
                    try writer.addSnapshot(snapshot, of: environments, documents: [])
                }
                func differences(
                    _ from: String,
                    _ to: String?,
                    implicitZone: String = "implicit"
                ) throws -> [SnapshotDifference] {
                    try writer.snapshotDifferences(
                        of: "c",
                        from: from,
                        to: to,
                        implicitZone: implicitZone,
                        limit: 9
                    )
                }
                try take("s")
                #expect(try differences("s", nil) == [])
                var record = try #require(try writer.record(world.zone, name: "a"))
                record.fields = Data("{1}".utf8)
                try writer.updateRecord(record)
                _ = try writer.addRecord(Self.record("b", world.zone, 8))
                try take("t")
                func found(_ kind: SnapshotDifference.Kind, _ name: String) -> SnapshotDifference {
                    SnapshotDifference(
                        kind,
                        database: world.database,
                        zone: "zone",
                        record: name,
                        type: record.type
                    )
                }
                let news = [found(.changed, "a"), found(.added, "b")]
                #expect(try differences("s", nil) == news)
                #expect(try differences("s", "t") == news)
                #expect(try differences("t", "s") == [found(.changed, "a"), found(.deleted, "b")])
                let first = try writer.snapshotDifferences(
                    of: "c",
                    from: "s",
                    to: nil,
                    implicitZone: "implicit",
                    limit: 1
                )
                #expect(first == [found(.changed, "a")])
                try Self.remove(world, writer)
                let gone = SnapshotDifference(.deleted, database: world.database, zone: "zone")
                #expect(try differences("s", nil) == [gone])
                #expect(try differences("s", nil, implicitZone: "zone") == [gone])
                #expect(try differences("s", "t") == news)
                try take("none")
                let empty = try writer.addZone(Self.emptyZone(in: world.database))
                let more = SnapshotDifference(.added, database: world.database, zone: "zone")
                #expect(try differences("none", nil) == [more])
                #expect(try differences("none", nil, implicitZone: "zone") == [])
                try take("empty")
                let added = try writer.addRecord(Self.record("a", empty.id, 8))
                #expect(try differences("none", nil, implicitZone: "zone") == [more])
                #expect(try differences("none", "empty", implicitZone: "zone") == [])
                try writer.removeRecord(added, in: empty.id)
                #expect(try differences("none", nil, implicitZone: "zone") == [])
            }
        },
        Check(testDescription: "A zone's number is never given again") { storage in
            try await storage.write { writer in
                let world = try Self.world(writer, "c")
                try writer.removeZones(of: world.environment)
                #expect(try writer.database(world.database)?.headSequence == 0)
                let zone = try writer.addZone(Self.emptyZone(in: world.database))
                #expect(zone.id != world.zone)
            }
        },
    ]

    /// A container with one of everything.
    private struct World {
        var environment: RowID<StoredEnvironment>
        var database: RowID<StoredDatabase>
        var zone: RowID<StoredZone>
    }

    private static func world(
        _ writer: any StorageWriter,
        _ container: String,
        documents: String = "d"
    ) throws -> World {
        let environment = try writer.addEnvironment(container: container, .development)
        try writer.setSchema(environment.id, version: 9, Data([4]))
        let database = try writer.addDatabase(environment.id, owner: nil, incarnation: 3)
        try writer.setHeadSequence(database.id, 3)
        let zone = try writer.addZone(
            StoredZone(
                id: RowID(rawValue: 0),
                database: database.id,
                name: "zone",
                incarnation: 1,
                headSequence: 7,
                changeSequence: 3,
                isDeleted: false
            )
        )
        let record = try writer.addRecord(Self.record("a", zone.id, 7))
        try writer.addEntry(Self.entry([1], record.rawValue), in: zone.id)
        try writer.addReference(
            StoredReference(source: record, target: "t", kind: .deleteSelf),
            in: zone.id
        )
        try writer.setAssets([Data([8])], of: record, in: zone.id)
        for collection in ["1", "1/x", "12"] {
            try writer.putDocument(
                "\(documents)/\(collection)",
                StoredDocument(name: "n", body: Data([1]))
            )
        }
        return World(environment: environment.id, database: database.id, zone: zone.id)
    }

    private static func emptyZone(in database: RowID<StoredDatabase>) -> StoredZone {
        StoredZone(
            id: RowID(rawValue: 0),
            database: database,
            name: "zone",
            incarnation: 1,
            headSequence: 0,
            changeSequence: 0,
            isDeleted: false
        )
    }

    private static func remove(_ world: World, _ writer: any StorageWriter) throws {
        try writer.removeZones(of: world.environment)
        try writer.removeSchema(of: world.environment)
        try writer.removeDocuments(in: ["d/1"])
        #expect(try writer.schema(world.environment) == nil)
    }
}
