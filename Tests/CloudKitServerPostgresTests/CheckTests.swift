#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "The check of a PostgreSQL database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct CheckTests {
    /// A cloud with records, references and an asset, whose rows a test damages.
    struct World {
        let server: PostgresServer
        let address: String
        let storage: PostgresStorage
        let cloud: FixtureCloud
        let ada: FixtureCloud.User

        init(partitions: Int = 0) async throws {
            server = try PostgresServer.shared.get()
            address = try server.newDatabase()
            storage = try await PostgresServer.open(address, partitions: partitions)
            cloud = try await FixtureCloud(storage: storage, assets: storage.assetStorage())
            ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
            let photo = try await cloud.upload(Data([1, 2, 3]), for: "a", as: ada)
            let made = try await cloud.modify(
                as: ada,
                [
                    FixtureCloud.note("create", "a", ["n": ["value": 1], "photo": photo]),
                    FixtureCloud.note(
                        "create",
                        "b",
                        ["link": ["value": ["recordName": "a", "action": "DELETE_SELF"]]]
                    ),
                    FixtureCloud.note("create", "c", ["n": ["value": 3]]),
                ]
            )
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made.body)")
        }

        func sql(_ text: String) throws { try server.run(text, in: address) }

        /// Returns the problems that a check finds, with the names of records in front.
        func problems(repairs: Bool = false) async throws -> [String] {
            let report = try await cloud.service.check(repairs: repairs)
            #expect(report.zones >= 2)
            return report.findings.map { finding in
                (finding.record.map { $0 + ": " } ?? "") + finding.problem
                    + (finding.isRepaired ? " (repaired)" : "")
            }
        }
    }

    /// Damage that a repair mends: what is done to the rows, and what a check says.
    static let derived: [(sql: String, problem: String)] = [
        (
            """
            DELETE FROM index_entry WHERE (number, key, record) = (
                SELECT number, key, record FROM index_entry
                WHERE record = (SELECT id FROM record WHERE name = 'c') LIMIT 1)
            """,
            "c: its index entries are not those of its values"
        ),
        (
            """
            INSERT INTO index_entry SELECT database, zone, 99, 'wrong', id FROM record
            WHERE name = 'c'
            """,
            "c: its index entries are not those of its values"
        ),
        (
            "UPDATE index_entry SET key = key || 'x' WHERE record = "
                + "(SELECT id FROM record WHERE name = 'c')",
            "c: its index entries are not those of its values"
        ),
        (
            "INSERT INTO index_entry SELECT database, id, 1, 'lost', 4000000 FROM zone "
                + "WHERE name = 'Notes'",
            "there are index entries of a record that is not there"
        ),
        (
            "INSERT INTO index_entry SELECT database, 77, 1, 'lost', id FROM record "
                + "WHERE name = 'c'",
            "table index_entry, 1 rows: expected zone 77 in table zone, found none"
        ),
        ("DELETE FROM reference", "b: its references are not noted as they are"),
        (
            "UPDATE reference SET target = 'c'",
            "b: its references are not noted as they are"
        ),
        (
            "INSERT INTO reference SELECT database, zone, target, circle, kind, 4000000 "
                + "FROM reference",
            "there are references of a record that is not there"
        ),
        ("DELETE FROM asset", "a: its assets are not noted as they are"),
        (
            "INSERT INTO asset SELECT asset.database, record.id, asset.checksum FROM asset, record "
                + "WHERE name = 'c'",
            "c: its assets are not noted as they are"
        ),
        (
            "INSERT INTO asset SELECT database, 4000000, checksum FROM asset",
            "assets are noted for records that are not there"
        ),
        (
            "UPDATE zone SET bytes = bytes + 5 WHERE name = 'Notes'",
            "its records are counted as"
        ),
        (
            "SELECT setval('row_block', 1, false)",
            "sequence row_block: expected a number beyond"
        ),
    ]

    @Test("A cloud that nothing has damaged is in order", arguments: [0, 16])
    func order(partitions: Int) async throws {
        let world = try await World(partitions: partitions)
        let report = try await world.cloud.service.check()
        #expect(report.findings == [])
        #expect(report.records == 3)
        #expect(report.assets == 1)
        #expect(try await world.problems(repairs: true) == [])
    }

    @Test(
        "Rows that follow from records are named where they are wrong, and mended",
        arguments: derived
    )
    func mending(damage: (sql: String, problem: String)) async throws {
        let world = try await World()
        try world.sql(damage.sql)
        let found = try await world.problems()
        #expect(found.count == 1 && found[0].hasPrefix(damage.problem), "\(found)")
        let mended = try await world.problems(repairs: true)
        #expect(mended == found.map { $0 + " (repaired)" })
        #expect(try await world.problems() == [])
        // Whoever goes on finds everything as it should be.
        let next = try await world.cloud.modify(as: world.ada, [FixtureCloud.note("create", "d")])
        #expect(next.records[0].serverErrorCode == nil, "\(next.body)")
        #expect(try await world.problems() == [])
    }

    @Test("All damage at once is found, and mended by one repair, in partitions too")
    func together() async throws {
        let world = try await World(partitions: 16)
        for damage in Self.derived where !damage.sql.contains("FROM asset") {
            try world.sql(damage.sql)
        }
        let found = try await world.problems()
        #expect(found.count > 5, "\(found)")
        let mended = try await world.problems(repairs: true)
        #expect(mended.allSatisfy { $0.hasSuffix(" (repaired)") }, "\(mended)")
        #expect(try await world.problems() == [])
    }

    /// Damage that nothing can mend, with what a check says.
    static let fatal: [(sql: String, problem: String)] = [
        ("UPDATE zone SET head_sequence = 1 WHERE name = 'Notes'", "is beyond the zone's newest"),
        ("UPDATE database SET head_sequence = 0 WHERE owner <> 0", "head_sequence"),
        ("UPDATE database SET owner = 888 WHERE owner <> 0", "owner 888 in table account"),
        ("UPDATE zone SET database = 999 WHERE name = 'Notes'", "database 999 in table database"),
        ("UPDATE credential SET environment = 777", "environment 777 in table environment"),
        ("UPDATE credential SET account = 666 WHERE account IS NOT NULL", "account 666 in table"),
        ("UPDATE environment SET kind = 'test' WHERE kind = 'development'", "kind 'test'"),
        ("UPDATE environment SET schema = '{'", "the schema cannot be read"),
        ("UPDATE record SET fields = '{' WHERE name = 'c'", "c: the row does not match its"),
        ("UPDATE record SET type = 'x' WHERE name = 'c'", "c: the row does not match its"),
        (
            "UPDATE record SET fields = '{', checksum = NULL WHERE name = 'c'",
            "c: its fields cannot be read"
        ),
        ("INSERT INTO document VALUES ('passwords', 'x', '?')", "table document, row 'passwords'"),
        ("DELETE FROM zone WHERE name = 'Notes'", "zone"),
        ("DELETE FROM asset_file", "a: The file of the asset"),
        ("UPDATE asset_chunk SET bytes = 'x'", "a: The chunks of the asset"),
    ]

    @Test("Damage that nothing can mend is named, and left as it is", arguments: fatal)
    func beyondRepair(damage: (sql: String, problem: String)) async throws {
        let world = try await World()
        try world.sql(damage.sql)
        for repairs in [false, true, false] {
            let report = try await world.cloud.service.check(repairs: repairs)
            let found = report.findings.filter { !$0.isRepaired }.map { finding in
                (finding.record.map { $0 + ": " } ?? "") + finding.problem
            }
            #expect(found.contains { $0.contains(damage.problem) }, "\(found)")
            #expect(!report.isGood)
        }
    }

    @Test("A zone that only a snapshot has is missed, and one that a reset removed is not")
    func snapshots() async throws {
        let world = try await World()
        let container = FixtureCloud.container
        _ = try await world.cloud.service.takeSnapshot("s", of: container)
        #expect(try await world.problems() == [])
        try world.sql("DELETE FROM record WHERE zone = (SELECT id FROM zone WHERE name = 'Notes')")
        try world.sql("DELETE FROM index_entry")
        try world.sql("DELETE FROM reference")
        try world.sql("DELETE FROM asset")
        try world.sql("DELETE FROM zone WHERE name = 'Notes'")
        let found = try await world.problems()
        #expect(found.count == 1 && found[0].contains("the zone 'Notes' of a snapshot"), "\(found)")
        try await world.cloud.service.restoreSnapshot("s", of: container)
        #expect(try await world.problems() == [])
        try await world.cloud.service.resetContainer(container)
        #expect(try await world.problems() == [])
    }

    @Test("A zone of more rows than one page of the check is compared whole")
    func pages() async throws {
        let world = try await World()
        for start in stride(from: 0, to: 2400, by: 200) {
            let notes = (start..<start + 200).map { number in
                FixtureCloud.note("create", "r\(number)", ["n": ["value": .int(Int64(number))]])
            }
            _ = try await world.cloud.modify(as: world.ada, notes)
        }
        #expect(try await world.problems() == [])
        try world.sql(
            "DELETE FROM index_entry WHERE record IN (SELECT id FROM record WHERE name LIKE 'r%7')"
        )
        #expect(try await world.problems().count == 240)
        #expect(try await world.problems(repairs: true).count == 240)
        #expect(try await world.problems() == [])
    }
}
#endif
