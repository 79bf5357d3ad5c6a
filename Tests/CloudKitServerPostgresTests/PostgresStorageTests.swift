#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import StorageConformance
import PostgresFixtures
import Testing

@Suite(
    "The PostgreSQL engine",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct PostgresStorageTests {
    @Test("Keeps the promises of a storage", arguments: StorageConformance.checks)
    func promises(check: StorageConformance.Check) async throws {
        try await check.run(PostgresServer.open())
    }

    @Test("Keeps them with tables in 16 partitions too", arguments: StorageConformance.checks)
    func partitions(check: StorageConformance.Check) async throws {
        try await check.run(PostgresServer.open(partitions: 16))
    }

    @Test("Text keeps the character that PostgreSQL's own text cannot have")
    func zeroBytes() async throws {
        let storage = try await PostgresServer.open()
        let names = ["\u{0}", "\u{0}\u{0}", "a", "a\u{0}b", "ab"]
        try await storage.write { writer in
            for name in names.reversed() {
                try writer.putDocument("c\u{0}", StoredDocument(name: name, body: Data([0])))
            }
        }
        #expect(try await storage.read { try $0.documents("c\u{0}").map(\.name) } == names)
        #expect(try await storage.read { try $0.documents("c") } == [])
    }
}
#endif
