#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "Markers of commits on PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct CommitMarkerTests {
    @Test("Old ones are removed by later commits, and new ones are kept")
    func removal() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let storage = try await PostgresServer.open(address)
        try server.run(
            """
            INSERT INTO commit_marker (id, made)
            SELECT int8send(number), now() - interval '2 hours'
            FROM generate_series(1, 1500) AS number
            """,
            in: address
        )
        for number in 0..<600 {
            try await storage.write { try $0.setSetting("count", Data("\(number)".utf8)) }
        }
        func count(_ condition: String) throws -> String {
            try server.run("SELECT count(*) FROM commit_marker WHERE \(condition)", in: address)
        }
        #expect(try count("made < now() - interval '1 hour'") == "0")
        #expect(try count("made > now() - interval '1 hour'") == "600")
    }
}
#endif
