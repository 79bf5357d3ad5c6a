#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import PostgresFixtures
import ServerFixtures

/// Nodes of one process, each with connections over a network of its own that fails.
final class FailingNodes: Sendable {
    let server: PostgresServer
    let address: String
    let networks: [Network]
    let storages: [PostgresStorage]
    let services: [CloudService]

    init(count: Int, _ server: PostgresServer? = nil) async throws {
        let server = try server ?? PostgresServer.shared.get()
        self.server = server
        address = try server.newDatabase()
        // With the tables before anything fails.
        try await PostgresServer.open(address).close()
        var nodes: [(Network, PostgresStorage)] = []
        for _ in 0..<count {
            let network = try Network(to: server)
            nodes.append((network, try await PostgresServer.open(network.address(of: address))))
        }
        networks = nodes.map(\.0)
        storages = nodes.map(\.1)
        let assets = try FileAssetStorage.temporary()
        services = storages.map {
            CloudService(
                storage: $0,
                assets: assets,
                clock: SystemClock(),
                randomness: SystemRandomness()
            )
        }
    }

    /// Adds users; returns each one's way in.
    func doors(users: Int) async throws -> [Door] {
        try await services[0].doors(users: users, nodes: services.map { ServiceConnection($0) })
    }

    /// Lets one thing fail, as the number of a call says.
    func fail(_ call: Int) throws {
        guard call.isMultiple(of: 12) else { return }
        let network = networks[call / 12 % networks.count]
        switch call / 12 % 4 {
        case 0: network.cut()
        case 1: network.fail(nextCommit: .unanswered)
        case 2: network.fail(nextCommit: .lost)
        default:
            try server.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'cloudkit'
                """,
                in: address
            )
        }
    }
}
#endif
