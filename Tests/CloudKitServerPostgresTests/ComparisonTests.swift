#if PostgreSQL
import CloudKitServerCore
import CloudKitWire
import CloudKitServerPostgres
import CloudKitServerSQLite
import ServerFixtures
import PostgresFixtures
import Testing

@Suite(
    "PostgreSQL beside SQLite",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct ComparisonTests {
    private struct Undone: Error {}

    @Test(
        "Random changes read the same on both, between them and after",
        arguments: 1...15 as ClosedRange<UInt64>
    )
    func randomRows(seed: UInt64) async throws {
        let expected = try await Self.lines(seed, SQLiteStorage(path: nil))
        let found = try await Self.lines(seed, PostgresServer.open(connections: 1))
        for (place, (line, other)) in zip(expected, found).enumerated() where line != other {
            Issue.record("Seed \(seed), line \(place): SQLite has \(line), PostgreSQL \(other)")
            break
        }
        #expect(expected.count == found.count)
    }

    private static func lines(_ seed: UInt64, _ storage: some Storage) async throws -> [String] {
        let (zone, database) = try await storage.write { writer in
            let environment = try writer.addEnvironment(container: "c", .development).id
            let owner = RowID<StoredUser>(rawValue: 1)
            let database = try writer.addDatabase(environment, owner: owner, incarnation: 1)
            let zone = StoredZone(
                id: RowID(rawValue: 0),
                database: database.id,
                name: "Notes",
                incarnation: 1,
                headSequence: 0,
                changeSequence: 1,
                isDeleted: false
            )
            return (try writer.addZone(zone).id, database)
        }
        let key = DatabaseKey(environment: database.environment, owner: database.owner)
        var rows = RandomRows(seed: seed, zone: zone, in: database)
        for round in 0..<6 {
            let before = rows
            let isUndone = round == 3
            do {
                rows = try await storage.write(.database(key), needing: { StorageNeeds(in: key) }) {
                    var rows = before
                    try rows.run(40, $0)
                    if isUndone { throw Undone() }
                    return rows
                }
            } catch is Undone {
                // What it read is not compared, and what it wrote is gone.
            }
        }
        return rows.lines
    }

    @Test(
        "Every documented request gets its documented response",
        .disabled(if: ConformanceRows.areas.isEmpty),
        arguments: ConformanceRows.areas
    )
    func service(area: ConformanceArea) async throws {
        let found = try await FixtureCloud.$newStorage.withValue({ try await PostgresServer.open() }
        ) {
            try await ConformanceRun.play(area, ConformanceRun.inProcess)
        }
        for mismatch in found { Issue.record("\(mismatch)") }
    }
}

/// The table of requests and responses.
private enum ConformanceRows {
    // Whether the table can be read is a matter of the core's tests.
    static let areas = (try? ConformanceTable())?.areas ?? []
}
#endif
