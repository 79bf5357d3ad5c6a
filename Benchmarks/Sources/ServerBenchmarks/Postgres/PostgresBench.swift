#if PostgreSQL
import BenchmarkHarness
import CloudKitServer
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitServerSQLite
import CloudKitWebClient
import Foundation
import Logging

/// Three nodes on one PostgreSQL, with 64 users who have a database and a zone each.
struct PostgresBench: Sendable {
    static let count = 64
    /// The number of connections of each node, and of the floors.
    static let connections = 8
    private static let requestsOfEach = 16
    /// The number of requests of one call.
    static let requests = count * requestsOfEach

    let postgres: PostgresFolder
    /// The addresses of the nodes.
    let nodes: [String]
    /// The users, as clients of the first node.
    let users: [ServerBench]

    /// The folder on whose disk the data is, which everybody may write to.
    var directory: URL { users[0].directory }

    static func start(programs: String) async throws -> PostgresBench {
        let postgres = try PostgresFolder(programs: programs)
        var servers: [CloudServer] = []
        for _ in 0..<3 { servers.append(try await node(on: postgres)) }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var users: [ServerBench] = []
        for _ in 0..<count {
            let user = try await ServerBench.newUser(of: servers[0], directory)
            try await user.saveLookupRecord()
            users.append(user)
        }
        var nodes: [String] = []
        for server in servers { nodes.append(try await server.url()) }
        return PostgresBench(postgres: postgres, nodes: nodes, users: users)
    }

    private static func node(on postgres: PostgresFolder) async throws -> CloudServer {
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        var configuration = CloudServer.Configuration()
        let storage = try await PostgresStorage.open(postgres.address, connections: connections)
        configuration.storage = storage
        configuration.assets = storage.assetStorage()
        let server = try CloudServer(configuration: configuration, logger: logger)
        // Ends with the process, as PostgreSQL does.
        Task { try await server.run() }
        return server
    }

    // MARK: Subjects

    /// Saves one new record of each client at a time; each client sends its next request after the response.
    ///
    /// - Parameter isShared: `true` for clients of one user, with one zone.
    /// - Returns: The work.
    func saves(inOneZone isShared: Bool = false) -> Work {
        let note = NoteBatch(count: 1)
        let urls = users.map { (isShared ? users[0] : $0).url(.recordsModify) }
        let number = Counter()
        return work("one-record saves over HTTP") { user in
            _ = try await users[user].post(note.body(number.next()), to: urls[user])
        }
    }

    /// Looks up a record of each user, whose clients are divided among some nodes.
    func lookups(nodes count: Int = 1) async throws -> Work {
        let body = try users[0].lookupBody()
        let urls = users.enumerated().map { place, user in
            user.url(.recordsLookup, at: nodes[place % count])
        }
        return work("lookups over HTTP, nodes: \(count)") { user in
            _ = try await users[user].post(body, to: urls[user])
        }
    }

    /// Returns the work of all clients at once.
    func work(
        _ name: String,
        _ request: @escaping @Sendable (_ user: Int) async throws -> Void
    ) -> Work {
        Work(name, units: Double(Self.requests)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in 0..<Self.count {
                    group.addTask {
                        for _ in 0..<Self.requestsOfEach { try await request(user) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
#endif
