#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import StorageConformance
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
}
#endif
