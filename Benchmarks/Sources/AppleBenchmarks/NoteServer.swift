import CloudKit
import CloudKitExtras
import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Logging

/// A server on the loopback interface with its data in a file, durable writes, and one user.
///
/// It lives as long as the process.
struct NoteServer: Sendable {
    let service: CloudService
    let client: WebClient

    static func start() async throws -> NoteServer {
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
        let database = CKContainer(client: client).privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: Note.zoneID))
        return NoteServer(service: service, client: client)
    }

    /// Starts a server whose user has a number of records.
    static func holding(_ count: Int) async throws -> NoteServer {
        let server = try await start()
        try await save(count, prefix: "note", in: server.database())
        return server
    }

    /// Returns the private database of a device that uses a transport.
    func database(over transport: any Transport = HTTPTransport()) -> CKDatabase {
        CKContainer(client: client(over: transport)).privateCloudDatabase
    }

    func client(over transport: any Transport, at url: String? = nil) -> WebClient {
        WebClient(
            url: url ?? client.url,
            container: client.container,
            environment: client.environment,
            credentials: client.credentials,
            transport: transport
        )
    }

    /// Saves new records like an app, with the maximum number in each call.
    static func save(_ count: Int, prefix: String, in database: CKDatabase) async throws {
        for start in stride(from: 0, to: count, by: 400) {
            let range = start..<min(start + 400, count)
            let results = try await database.modifyRecords(
                saving: Note.records(range, prefix: prefix),
                deleting: []
            )
            guard results.saveResults.count == range.count else { throw Unequal() }
            for result in results.saveResults.values { _ = try result.get() }
        }
    }
}

/// An error that indicates that output and input differ.
struct Unequal: Error {}
