import CloudKitBasics
public import CloudKitServerCore
import CloudKitServerSQLite
import Hummingbird
import HummingbirdCore
public import Logging
import Metrics
import NIOCore
public import ServiceLifecycle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server for CloudKit Web Services over HTTP, with its data on this machine's disk.
///
/// ```swift
/// let server = try CloudServer(configuration: .init(directory: "/var/lib/cloudkit", port: 8787))
/// let token = try await server.service.addAPIToken(
///     container: "iCloud.com.example.app",
///     environment: .development
/// )
/// try await server.run()
/// ```
///
/// Runs in a `ServiceGroup` with other services; a graceful shutdown lets requests finish.
public final class CloudServer: Service {
    /// The service behind the server, to which you add containers, tokens and users.
    public let service: CloudService
    private let configuration: Configuration
    /// `true` if the folder of the data did not exist before.
    private let hasNewFolder: Bool
    private let logger: Logger
    private let bound = BoundAddress()
    /// Ends when requests may be answered.
    private let (opening, opened) = AsyncStream<Void>.makeStream()
    /// A stream that ends when requests are answered.
    private let (accepting, acceptance) = AsyncStream<Void>.makeStream()
    private let clock: any ServiceClock
    private let policy: OriginPolicy
    private let memory: MemoryBudget
    /// The number of bytes of request bodies in memory.
    package var bodyBytes: Int { memory.taken }
    /// The journal of the newest requests.
    public let journal: RequestJournal
    /// The server's metrics, which `/metrics` shows too.
    public let metrics = PrometheusMetrics()
    /// The key for the routes of operators and tests; `nil` if the server has no such routes.
    public let administrationKey: String?

    /// Returns the location of the assets of a data folder that are not in it, such as `s3://bucket/prefix`.
    package static func assetsLocation(of folder: String) -> String? {
        ServerFolder(path: folder).assetsLocation
    }

    /// Creates a server and opens its data; it does not listen before `run()`.
    ///
    /// - Throws: `StorageError` when the data cannot be opened, and `ServerConfigurationError` for
    ///   settings that only a loopback server may have.
    public init(
        configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "cloudkit.server")
    ) throws {
        self.configuration = configuration
        self.logger = logger
        policy = OriginPolicy(configuration)
        memory = MemoryBudget(bytes: configuration.memoryBytes)
        try configuration.check()
        journal = RequestJournal(capacity: configuration.journalCapacity)
        administrationKey = Self.key(configuration, policy)
        clock =
            configuration.hasVirtualClock ? VirtualClock(following: SystemClock()) : SystemClock()
        let storage: SQLiteStorage
        let assets: any AssetStorage
        if let directory = configuration.directory {
            let folder = ServerFolder(path: directory)
            hasNewFolder = try folder.prepare(logger)
            do {
                try folder.noteLocation(of: configuration.assets)
                assets =
                    try configuration.assets ?? FileAssetStorage(directory: directory + "/assets")
                storage = try SQLiteStorage(
                    path: directory + "/cloud.sqlite",
                    durability: configuration.durability
                )
            } catch {
                // The error below is the one to report.
                if hasNewFolder { try? FileManager.default.removeItem(atPath: directory) }
                throw error
            }
        } else {
            hasNewFolder = false
            assets = try configuration.assets ?? FileAssetStorage.temporary()
            storage = try SQLiteStorage(path: nil)
        }
        service = CloudService(
            storage: storage,
            assets: assets,
            configuration: configuration.service,
            clock: clock,
            randomness: SystemRandomness()
        )
        service.setFaults(configuration.faults)
    }

    /// Creates a server for an existing service, such as one on another storage engine or the cloud of a test.
    ///
    /// - Parameters:
    ///   - service: The service, which has its storage and its settings already.
    ///   - configuration: The settings of the server; those of data and of the service have no effect.
    ///   - clock: The clock of the service.
    ///   - logger: The logger.
    public init(
        serving service: CloudService,
        configuration: Configuration = Configuration(),
        clock: any ServiceClock = SystemClock(),
        logger: Logger = Logger(label: "cloudkit.server")
    ) {
        self.service = service
        hasNewFolder = false
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        policy = OriginPolicy(configuration)
        memory = MemoryBudget(bytes: configuration.memoryBytes)
        journal = RequestJournal(capacity: configuration.journalCapacity)
        administrationKey = Self.key(configuration, policy)
    }

    private static func key(_ configuration: Configuration, _ policy: OriginPolicy) -> String? {
        if let key = configuration.administrationKey { return key }
        guard policy.isPrivate else { return nil }
        return Hexadecimal.text(SystemRandomness().bytes(16))
    }

    /// Listens and responds to requests until it is cancelled or shut down gracefully.
    ///
    /// - Throws: An error when the address cannot be bound, and `ServerConfigurationError` when
    ///   another server uses the folder.
    public func run() async throws {
        let lock: ServerFolder.Lock?
        do {
            lock = try configuration.directory.map { try ServerFolder(path: $0).lock() }
        } catch {
            bound.fail(error)
            throw error
        }
        defer { withExtendedLifetime(lock) {} }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.serve() }
                group.addTask {
                    await self.updateIndexes()
                    // Damage ends all writes, but a program that starts may need some of them.
                    for await _ in self.accepting {}
                    await self.lookForDamage()
                    await self.cleanNowAndThen()
                }
                group.addTask { await self.watchStorage() }
                try await group.next()
                group.cancelAll()
            }
            await removeUnusedFolder()
            bound.fail(CancellationError())
        } catch {
            await removeUnusedFolder()
            let failure = ServerConfigurationError(listening: error, configuration)
            bound.fail(failure ?? error)
            throw failure ?? error
        }
    }

    /// Removes the folder of the data if this server made it and nothing was stored in it.
    private func removeUnusedFolder() async {
        guard hasNewFolder, let directory = configuration.directory,
            // A folder that cannot be read is left as it is, and so is one with files of others.
            (try? await service.containers()) == [],
            let names = try? FileManager.default.contentsOfDirectory(atPath: directory),
            names.allSatisfy({
                ["assets", ServerFolder.locationFile, "server.lock"].contains($0)
                    || $0.hasPrefix("cloud.sqlite")
            })
        else { return }
        // What is left is harmless: the next start uses it.
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Updates the indexes of a database from an older version, while requests are served.
    private func updateIndexes() async {
        do {
            try await service.updateIndexes()
        } catch {
            logger.error("Updating the indexes failed", metadata: ["error": "\(error)"])
        }
    }

    /// Looks for damage of the database, for a limited time because a check of a large one takes
    /// long; `/health/ready` reports it.
    private func lookForDamage() async {
        guard let damage = await service.damage(foundWithin: .seconds(10)) else { return }
        logger.critical(
            "The database is damaged",
            metadata: ["error": "\(damage)", "remedy": "cloudkit check --repair"]
        )
    }

    /// Removes unusable data every quarter of an hour until cancelled; uploads that no record took
    /// over are deleted within an hour.
    private func cleanNowAndThen() async {
        // Only a cancellation ends the wait early, and then the loop.
        while (try? await Task.sleep(for: .seconds(900))) != nil {
            do {
                try await service.clean()
            } catch {
                logger.error("Cleaning failed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Checks four times a second whether another process has written to the data, while requests
    /// wait for notifications.
    private func watchStorage() async {
        // As above.
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            // A failure is retried; if the storage is broken, requests report it.
            try? await service.wakeAfterExternalChanges()
        }
    }

    /// Lets requests be answered that arrived since the server began to listen; necessary only if
    /// its configuration holds them.
    package func acceptRequests() { opened.finish() }

    /// Returns the port as soon as the server listens.
    ///
    /// - Throws: The error that ended `run()`, if it ended before.
    public func port() async throws -> Int { try await bound.port() }

    /// Returns the URL of the server on this machine as soon as it listens.
    ///
    /// - Throws: The error that ended `run()`, if it ended before.
    public func url() async throws -> String {
        let host =
            configuration.host.contains(":")
            ? "[\(configuration.host)]" : configuration.host
        return "http://\(host):\(try await port())"
    }

    /// Listens and responds to requests until the server stops.
    private func serve() async throws {
        let observer = self.observer()
        let connections = self.connections(observer)
        // Before any request learns that the server stops.
        try await withGracefulShutdownHandler {
            try await application(connections, observer).run()
        } onGracefulShutdown: {
            connections.stop()
        }
    }

    private func observer() -> RequestObserver {
        RequestObserver(
            journal: journal,
            logger: logger,
            clock: clock,
            series: RequestSeries(
                MultiplexMetricsHandler(factories: [metrics, MetricsSystem.factory])
            ),
            keepsBodies: policy.isPrivate,
            watcher: configuration.onRequest
        )
    }

    private func connections(_ observer: RequestObserver) -> Connections {
        Connections(
            .init(
                all: configuration.maxConnections,
                perAddress: configuration.maxConnectionsPerAddress,
                countsLoopback: !policy.isBehindProxy,
                proxies: policy.proxies,
                responseBytes: configuration.memoryBytes
            ),
            noteRefusal: observer.noteRefusal
        )
    }

    private func application(
        _ connections: Connections,
        _ observer: RequestObserver
    ) -> Application<HTTPAdapter> {
        let times = ConnectionGuard.Times(request: .seconds(Int64(configuration.requestSeconds)))
        return Application(
            responder: HTTPAdapter(
                service: service,
                policy: policy,
                bodyLimit: configuration.service.requestBodyBytes,
                publicURL: configuration.baseURL,
                courierWait: .seconds(configuration.courierSeconds),
                connections: connections,
                memory: memory,
                administration: Administration(
                    key: administrationKey,
                    journal: journal,
                    metrics: metrics,
                    clock: clock as? VirtualClock,
                    version: configuration.version
                ),
                observer: observer
            ),
            server: HTTPServerBuilder { [configuration, service] responder in
                ClosingHTTP1Channel(
                    responder: responder,
                    configuration: .init(
                        additionalChannelHandlers: [RequestGuard()],
                        idleTimeout: .seconds(Int64(configuration.idleSeconds)),
                        httpDecoderConfiguration: .init(
                            maxHeaderFieldSize: 16 * 1024,
                            maxHeaderListSize: 32 * 1024,
                            maxHeaderFieldCount: 100
                        )
                    ),
                    // Requests read there, and no connection changes threads for it.
                    threads: service.threads,
                    behind: {
                        [
                            ConnectionGuard(
                                connections,
                                times,
                                longestBody: configuration.longestBody
                            )
                        ]
                    }
                )
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: nil
            ),
            onServerRunning: { [bound, opening, acceptance, configuration, service] channel in
                bound.set(channel.localAddress?.port ?? 0)
                if configuration.holdsRequests { for await _ in opening {} }
                // What another process has noticed is known before the first request writes.
                _ = await service.damage(foundWithin: .zero)
                acceptance.finish()
            },
            logger: logger
        )
    }
}
