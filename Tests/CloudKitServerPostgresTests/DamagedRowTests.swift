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
        #expect(report.damagedRecords == 1 && !report.isGood && report.isKept)

        let path = folder.path + "/restored"
        _ = try await Restore(of: archive).run(into: path)
        let other = try PostgresServer.shared.get().newDatabase()
        let copy = try await DataCopy(
            from: try SQLiteData.source(path),
            to: try await PostgresData.target(PostgresAddress(other)),
            assets: nil
        ).run()
        #expect(copy.isComplete && copy.damagedRecords == 1)
        let copied = try await PostgresStorage.open(other)
        let cloud = try await FixtureCloud(storage: copied, assets: world.storage.assetStorage())
        let problems = try await cloud.service.check().findings.map(\.problem)
        #expect(problems.count == 1 && problems[0].contains("checksum"), "\(problems)")
        // The snapshot has the record as it was.
        try await world.cloud.service.restoreSnapshot("s", of: FixtureCloud.container)
        #expect(try await world.problems() == [])
    }

    @Test("A row without a checksum, of an earlier version, is used, copied and given one")
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
        #expect(copy.isComplete && copy.damagedRecords == 0, "\(copy.differences)")
        let sums = "SELECT count(checksum) FROM record"
        #expect(try world.server.run(sums, in: world.address) == "0")
    }
}
#endif
