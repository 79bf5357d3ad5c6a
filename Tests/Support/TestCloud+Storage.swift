public import CloudKitServerCore
public import CloudKitServerSQLite
public import CloudKitTesting
import Foundation
import PostgresFixtures

extension TestCloud {
    /// Creates an empty cloud on the storage engine that the run is about.
    ///
    /// With `CLOUDKIT_TEST_STORAGE=postgres` it has a PostgreSQL database of its own; otherwise its data is in
    /// memory. `Scripts/postgres` runs end-to-end tests and schedules of the store so.
    public static func ofRun(
        opensContainers: Bool = false,
        clock: VirtualClock? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        randomness: any ServiceRandomness = SystemRandomness()
    ) async throws -> TestCloud {
        var storage: (any Storage)?
        #if PostgreSQL
        if ProcessInfo.processInfo.environment["CLOUDKIT_TEST_STORAGE"] == "postgres" {
            storage = try await PostgresServer.open()
        }
        #endif
        return try await TestCloud(
            opensContainers: opensContainers,
            clock: clock,
            configuration: configuration,
            randomness: randomness,
            storage: storage
        )
    }
}
