import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

/// A user of a server with several devices, as the server's process prints it in one line.
struct PollingUser: Sendable, Codable {
    /// The part of the address of the user's changes before and behind the path.
    var address: String
    var port: Int
    var query: String
    /// The paths at which the user's devices wait.
    var paths: [String]

    private static let container = "iCloud.bench"
    private static let zone = WireZoneID(zoneName: "Notes")

    /// The request that changes a record of the user.
    var change: TransportRequest {
        get throws {
            let note = RecordOperation(.forceReplace, NoteBatch.note("note", 1))
            return TransportRequest(
                method: "POST",
                url: address + Self.path("records/modify") + "?" + query,
                body: try WireJSON.encode(
                    ModifyRecordsRequest(operations: [note], zoneID: Self.zone)
                )
            )
        }
    }

    /// Starts a server's process, and returns its users when the server listens.
    static func startServer(
        users: Int,
        devices: Int
    ) throws -> (process: Process, users: [PollingUser]) {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [ServerChild.polls.rawValue]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["BENCH_USERS": "\(users)", "BENCH_DEVICES": "\(devices)"]
        ) { $1 }
        let output = Pipe()
        process.standardOutput = output
        // The server ends when this process does.
        process.standardInput = Pipe()
        try process.run()
        var found: [PollingUser] = []
        var rest = Data()
        while found.count < users {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw BenchError(description: "The server did not start") }
            rest += part
            let lines = rest.split(separator: 10, omittingEmptySubsequences: false)
            found += try lines.dropLast().map { try JSONDecoder().decode(Self.self, from: $0) }
            rest = Data(lines.last ?? Data())
        }
        return (process, found)
    }

    // MARK: The server's process

    /// Serves users whose devices are about to wait, until the process is ended.
    static func serve(_ logger: Logger) async throws {
        DispatchQueue.global().async {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            exit(0)
        }
        let environment = ProcessInfo.processInfo.environment
        let users = environment["BENCH_USERS"].flatMap(Int.init) ?? 1
        let devices = environment["BENCH_DEVICES"].flatMap(Int.init) ?? 1
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var configuration = CloudServer.Configuration(
            directory: directory.path,
            idleSeconds: 900,
            courierSeconds: 600
        )
        configuration.maxConnections = users * devices + 100
        configuration.maxConnectionsPerAddress = configuration.maxConnections
        let server = try CloudServer(configuration: configuration, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let (address, port) = (try await server.url(), try await server.port())
            let apiToken = try await server.service.addAPIToken(
                container: container,
                environment: .development
            )
            for number in 0..<users {
                let user = try await add(number, devices, to: server.service, apiToken)
                let line = try JSONEncoder().encode(
                    PollingUser(
                        address: address,
                        port: port,
                        query: user.query,
                        paths: user.paths
                    )
                )
                FileHandle.standardOutput.write(line + [10])
            }
            try await group.waitForAll()
        }
    }

    /// Adds a user with a zone, a subscription to its changes, and the devices' tokens.
    private static func add(
        _ number: Int,
        _ devices: Int,
        to service: CloudService,
        _ apiToken: String
    ) async throws -> (query: String, paths: [String]) {
        let user = try await service.addUser(container: container, name: "User \(number)")
        let webToken = try await service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        let escaped = webToken.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let query = "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escaped)"
        @Sendable func post(_ path: String, _ body: Data) async throws -> Data {
            let response = await service.respond(
                to: ServiceRequest(
                    method: "POST",
                    path: path,
                    query: query,
                    body: body,
                    baseURL: ""
                )
            )
            guard response.status == 200 else {
                throw BenchError(description: String(decoding: response.body, as: UTF8.self))
            }
            return response.body
        }
        _ = try await post(
            path("zones/modify"),
            WireJSON.encode(ModifyZonesRequest(operations: [.init(.create, zone)]))
        )
        let subscription = WireSubscription(
            subscriptionID: "notes",
            subscriptionType: .zone,
            zoneID: zone
        )
        _ = try await post(
            path("subscriptions/modify"),
            WireJSON.encode(
                ModifySubscriptionsRequest(operations: [.init(.create, subscription)])
            )
        )
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for device in 0..<devices {
                group.addTask {
                    let request = CreateTokenRequest(
                        apnsEnvironment: .development,
                        clientId: "device-\(device)"
                    )
                    let body = try await post(
                        "/device/1/\(container)/development/tokens/create",
                        WireJSON.encode(request)
                    )
                    return try WireJSON.decode(CreateTokenResponse.self, from: body).webcourierURL
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return (query, paths)
    }

    private static func path(_ endpoint: String) -> String {
        "/database/1/\(container)/development/private/\(endpoint)"
    }
}
