#if PostgreSQL
import CloudKitServer
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Serves a PostgreSQL database as one of several nodes behind a proxy, until SIGTERM stops it or the process
/// that started it ends; prints a line as soon as it listens.
func serve(database: String, port: Int, publicURL: String, assets: String) async throws {
    let storage = try await PostgresStorage.open(database, connections: 6)
    var configuration = CloudServer.Configuration(port: port, publicURL: publicURL)
    configuration.trustedProxies = ["127.0.0.1"]
    let logger = Logger(label: "node") { _ in SwiftLogNoOpLogHandler() }
    let server = CloudServer(
        serving: CloudService(
            storage: storage,
            assets: try FileAssetStorage(directory: assets),
            clock: SystemClock(),
            randomness: SystemRandomness()
        ),
        configuration: configuration,
        logger: logger
    )
    Thread.detachNewThread {
        while !FileHandle.standardInput.availableData.isEmpty {}
        exit(1)
    }
    var group = ServiceGroupConfiguration(
        services: [server],
        gracefulShutdownSignals: [.sigterm],
        logger: logger
    )
    group.maximumGracefulShutdownDuration = .seconds(10)
    let services = ServiceGroup(configuration: group)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        let url = try await server.url()
        try FileHandle.standardOutput.write(contentsOf: Data((url + "\n").utf8))
        try await group.waitForAll()
    }
}
#endif
