#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

// Checks find damage too: see CheckTests.
@Suite(
    "Damaged rows of a PostgreSQL database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct DamagedRowTests {
    private static let damage = "UPDATE record SET fields = '{\"n\":' WHERE name = 'c'"

    @Test("A damaged record is an error of its own in lookups, queries, changes and saves")
    func requests() async throws {
        let world = try await CheckTests.World()
        let (cloud, ada) = (world.cloud, world.ada)
        try world.sql(Self.damage)
        let found = try await cloud.lookUp(["c", "a"], as: ada)
        #expect(
            found.records.map(\.serverErrorCode) == ["INTERNAL_ERROR", .null],
            "\(found.body)"
        )
        let feed = try await cloud.changes(as: ada).records.elements
        #expect(feed.map(\.recordName) == ["a", "b", "c"])
        #expect(feed.map(\.serverErrorCode) == [.null, .null, "INTERNAL_ERROR"], "\(feed)")
        let result = try await cloud.call(
            "records/query",
            as: ada,
            ["query": ["recordType": "Note"], "zoneID": FixtureCloud.zone("Notes")]
        )
        #expect(result.records.count == 3, "\(result.body)")
        let save = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceUpdate", "c", ["n": ["value": 4]])]
        )
        #expect(save.records[0].serverErrorCode == "INTERNAL_ERROR", "\(save.body)")
        let replaced = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceReplace", "c", ["n": ["value": 4]])]
        )
        #expect(replaced.records[0].serverErrorCode == .null, "\(replaced.body)")
        // The size of the damaged record is no longer known.
        _ = try await world.problems(repairs: true)
        #expect(try await world.problems() == [])
    }

    @Test("A record whose type is damaged is replaced by one of the right type")
    func type() async throws {
        let world = try await CheckTests.World()
        for damage in ["'No e'", "'\\x4e6f74ff'", "'Nota'"] {
            try world.sql("UPDATE record SET type = \(damage) WHERE name = 'c'")
            let update = try await world.cloud.modify(
                as: world.ada,
                [FixtureCloud.note("forceUpdate", "c", ["n": ["value": 4]])]
            )
            #expect(update.records[0].serverErrorCode == "INTERNAL_ERROR", "\(update.body)")
            let replaced = try await world.cloud.modify(
                as: world.ada,
                [FixtureCloud.note("forceReplace", "c", ["n": ["value": 4]])]
            )
            #expect(replaced.records[0].serverErrorCode == .null, "\(replaced.body)")
            let found = try await world.cloud.lookUp(["c"], as: world.ada)
            #expect(found.records[0].recordType == "Note", "\(found.body)")
        }
    }

    @Test("A damaged row that says it was deleted is an error, and no deletion")
    func tombstone() async throws {
        let world = try await CheckTests.World()
        try world.sql("UPDATE record SET is_deleted = true, modified_at = 0 WHERE name = 'c'")
        let found = try await world.cloud.lookUp(["c"], as: world.ada)
        #expect(found.records[0].serverErrorCode == "INTERNAL_ERROR", "\(found.body)")
        let feed = try await world.cloud.changes(as: world.ada).records.elements
        #expect(feed.map(\.deleted) == [false, false, .null], "\(feed)")
        #expect(feed[2].serverErrorCode == "INTERNAL_ERROR", "\(feed)")
        let create = try await world.cloud.modify(
            as: world.ada,
            [FixtureCloud.note("create", "c", ["n": ["value": 7]])]
        )
        #expect(create.records[0].serverErrorCode == "CONFLICT", "\(create.body)")
        // The row is not removed with old tombstones either.
        try await world.cloud.service.clean()
        let replaced = try await world.cloud.modify(
            as: world.ada,
            [FixtureCloud.note("forceReplace", "c", ["n": ["value": 7]])]
        )
        #expect(replaced.records[0].serverErrorCode == .null, "\(replaced.body)")
        let query: JSON = [
            "query": [
                "recordType": "Note",
                "filterBy": [
                    ["fieldName": "n", "comparator": "EQUALS", "fieldValue": ["value": 3]]
                ],
            ],
            "zoneID": FixtureCloud.zone("Notes"),
        ]
        let result = try await world.cloud.call("records/query", as: world.ada, query)
        #expect(result.records == [], "\(result.body)")
    }

    @Test("A damaged record can be deleted")
    func deletion() async throws {
        let world = try await CheckTests.World()
        try world.sql(Self.damage)
        let deleted = try await world.cloud.modify(
            as: world.ada,
            [FixtureCloud.note("forceDelete", "c")]
        )
        #expect(deleted.records[0].serverErrorCode == .null, "\(deleted.body)")
        _ = try await world.problems(repairs: true)
        #expect(try await world.problems() == [])
    }

    @Test("A backup counts damaged records, and a copy keeps them as they are")
    func backup() async throws {
        let world = try await CheckTests.World()
        _ = try await world.cloud.service.takeSnapshot("s", of: FixtureCloud.container)
        try world.sql(Self.damage)
        let folder = try TestFolder()
        let archive = folder.path + "/backup.tar"
        let report = try await Backup.write(
            dataOf: try await PostgresData.source(PostgresAddress(world.address), isHeld: false),
            assets: world.storage.assetStorage(),
            to: archive,
            replaces: false,
            seconds: 0
        )
        #expect(report.damagedRecords.names == ["c"] && !report.isGood && report.isKept)

        let path = folder.path + "/restored"
        let restored = try await Restore(of: archive).run(into: path)
        #expect(restored.damagedRecords.names == ["c"] && restored.damagedAssets == [])
        let other = try PostgresServer.shared.get().newDatabase()
        let copy = try await DataCopy(
            from: try SQLiteData.source(path),
            to: try await PostgresData.target(PostgresAddress(other)),
            assets: nil
        ).run()
        #expect(copy.isComplete && copy.damagedRecords.count == 1)
        let copied = try await PostgresStorage.open(other)
        let cloud = try await FixtureCloud(storage: copied, assets: world.storage.assetStorage())
        let problems = try await cloud.service.check().findings.map(\.problem)
        #expect(problems.count == 1 && problems[0].contains("checksum"), "\(problems)")
        // The snapshot has the record as it was.
        try await world.cloud.service.restoreSnapshot("s", of: FixtureCloud.container)
        #expect(try await world.problems() == [])
    }

    @Test("A row without a checksum, of an earlier version, is used, and has one in a copy")
    func earlierRows() async throws {
        let world = try await CheckTests.World()
        world.storage.close()
        try world.sql(
            """
            ALTER TABLE record DROP COLUMN checksum;
            ALTER TABLE kept_record DROP COLUMN checksum;
            DELETE FROM migration WHERE number > 2
            """
        )
        let storage = try await PostgresServer.open(world.address)
        let cloud = try await FixtureCloud(storage: storage, assets: storage.assetStorage())
        #expect(try await cloud.service.check().findings == [])
        let (folder, target) = (try TestFolder(), "restored")
        let copy = try await DataCopy(
            from: try await PostgresData.source(PostgresAddress(world.address), isHeld: true),
            to: try SQLiteData.target(folder.path + "/" + target),
            assets: nil
        ).run()
        #expect(copy.isComplete && copy.damagedRecords.isEmpty, "\(copy.differences)")
        let sums = "SELECT count(checksum) FROM record"
        #expect(try world.server.run(sums, in: world.address) == "0")
    }
}
#endif
