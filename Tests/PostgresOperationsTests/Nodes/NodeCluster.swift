#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import CloudKitWebClient
import CloudKitWire
import Foundation
import HTTPFixtures
import ProcessFixtures
import ServerFixtures
import Synchronization

/// Nodes in processes of their own, on one database, behind a proxy.
final class NodeCluster: Sendable {
    let proxy: Proxy
    private let address: String
    private let ports: [Int]
    private let processes: Mutex<[ChildProcess?]>
    private let assets: String

    var count: Int { ports.count }

    /// Starts nodes on a database, which may have several hosts.
    init(_ address: String, nodes: Int) async throws {
        self.address = address
        ports = try (0..<nodes).map { _ in try FreePort.next() }
        processes = Mutex([ChildProcess?](repeating: nil, count: nodes))
        assets =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-assets-\(UUID().uuidString)").path
        proxy = try await Proxy(nodes: ports)
        for node in 0..<nodes { try await start(node) }
    }

    deinit {
        // Empty unless a test has saved assets; what stays is in the temporary folder.
        try? FileManager.default.removeItem(atPath: assets)
    }

    /// Starts a node, and returns as soon as it listens.
    func start(_ node: Int) async throws {
        let process = try await ChildProcess(
            "ServerProcess",
            ["--database", address, "\(ports[node])", proxy.url, assets]
        )
        processes.withLock { $0[node] = process }
    }

    /// Ends a node without warning.
    func kill(_ node: Int) async { await take(node)?.kill() }

    /// Stops a node as an operator does; returns its status.
    func stop(_ node: Int) async -> Int32? { await take(node)?.stop() }

    private func take(_ node: Int) -> ChildProcess? {
        processes.withLock { processes in
            defer { processes[node] = nil }
            return processes[node]
        }
    }

    /// Adds users; returns each one's way in.
    func doors(users: Int) async throws -> [Door] {
        let storage = try await PostgresStorage.open(address, connections: 1)
        defer { storage.close() }
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        return try await service.doors(users: users, nodes: [HTTPConnection(url: proxy.url)])
    }
}

extension Door {
    /// Creates the web client of another device of the user, at an address.
    func client(_ url: String, retrying policy: RetryPolicy) -> WebClient {
        var client = WebClient(
            url: url,
            container: Self.container,
            environment: .development,
            credentials: WebCredentials(apiToken: apiToken, webAuthToken: webToken)
        )
        client.retryPolicy = policy
        return client
    }
}
#endif
