public import BenchmarkHarness
import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

extension Area {
    /// The server over HTTP on the loopback interface, with its data in a file and durable writes.
    ///
    /// The client runs in the same process, for the subject and for the floor alike.
    public static let server = Area(name: "server") {
        let bench = try await ServerBench.start()
        let query = Prepared { try await bench.indexedQuery(records: 100_000) }
        let large = Prepared { try AssetBench(bench, megabytes: 50) }
        return [
            .rate("modify-200", .atLeast(0.5)) {
                (try await bench.modify(), try await bench.rawInserts())
            }
            .tellingSyncTime(in: bench.directory),
            .rate("lookup", .atLeast(0.5)) {
                (try await bench.lookup(), try await bench.plainHandler())
            },
            .rate("changes-200", .atLeast(0.6)) {
                (try await bench.changesPage(), try await bench.servedRows())
            },
            .rate("changes-200-rows", .none) {
                (try await bench.changesPage(), try bench.rawRows())
            },
            .time("query-100000", .atMost(2)) {
                (try await query.value, try await bench.indexedQuery(records: 1000))
            },
            .rate("query-200", .atLeast(0.5)) {
                (try await query.value, try await bench.servedQuery(records: 100_000))
            },
            .rate("query-200-rows", .none) {
                (try await query.value, try bench.rawQuery(records: 100_000))
            },
            .rate("asset-upload-50", .atLeast(0.8)) {
                (try await large.value.upload(), try await large.value.plainUpload())
            }
            .tellingSyncTime(in: bench.directory),
            .rate("asset-download-50", .atLeast(0.8)) {
                (try await large.value.download(), try await large.value.plainDownload())
            },
            AssetBench.memory("asset-memory-50", .atMost(10), large),
            .groupCommit(in: bench.directory),
            .start,
            .idleMemory,
        ] + Benchmark.containers + Benchmark.longPolls
    }
}

/// A server with one user, which lives as long as the process.
struct ServerBench: Sendable {
    static let zone = "Bench"

    let client: WebClient
    let directory: URL
    let batch = NoteBatch(count: 200)

    static func start() async throws -> ServerBench {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let server = try CloudServer(
            configuration: .init(directory: directory.path),
            logger: logger
        )
        // Ends with the process, as the data in the temporary folder does.
        Task { try await server.run() }
        return try await newUser(of: server, directory)
    }

    /// Adds a user with a zone to a server that runs.
    static func newUser(of server: CloudServer, _ directory: URL) async throws -> ServerBench {
        let service = server.service
        let apiToken = try await service.addAPIToken(
            container: "iCloud.bench",
            environment: .development
        )
        let user = try await service.addUser(container: "iCloud.bench", name: "Ada")
        let client = WebClient(
            url: try await server.url(),
            container: "iCloud.bench",
            environment: .development,
            credentials: WebCredentials(
                apiToken: apiToken,
                webAuthToken: try await service.addWebAuthToken(
                    user: user,
                    apiToken: apiToken,
                    environment: .development
                )
            )
        )
        _ = try await client.modifyZones(
            ModifyZonesRequest(operations: [.init(.create, WireZoneID(zoneName: zone))]),
            in: .private
        )
        return ServerBench(client: client, directory: directory)
    }

    /// Returns the URL of an endpoint with the tokens, on the user's server or on another node of it.
    func url(_ endpoint: Endpoint, at node: String? = nil) -> String {
        let path = ServicePath(
            container: client.container,
            environment: client.environment,
            database: .private,
            endpoint: endpoint
        )
        let token =
            (client.credentials.webAuthToken ?? "")
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(node ?? client.url)\(path)?ckAPIToken=\(client.credentials.apiToken)"
            + "&ckWebAuthToken=\(token)"
    }

    /// Sends a request; any status but 200 ends the measurement.
    func post(_ body: Data, to url: String) async throws -> Data {
        let response = try await client.transport.send(
            TransportRequest(method: "POST", url: url, body: body)
        )
        guard response.status == 200 else {
            throw BenchError(description: String(decoding: response.body, as: UTF8.self))
        }
        return response.body
    }
}

/// An error of a request that the server did not serve as expected.
struct BenchError: Error, CustomStringConvertible {
    let description: String
}
