#if PostgreSQL
import CloudKitExtras
import Foundation
import PostgresFixtures
import Testing

/// Servers in processes of their own on one new PostgreSQL database.
struct ServedDatabase {
    static let container = "iCloud.com.example.notes"

    /// The URL of the database.
    let database: String
    /// The URLs of the servers.
    let urls: [String]
    /// A folder for the test's files.
    let folder: URL

    /// Runs a test against servers on a database.
    ///
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - postgres: The PostgreSQL server; by default the one that tests share.
    ///   - sharesFolder: `true` to keep assets in a folder that the servers share.
    ///   - body: The test.
    static func run(
        servers count: Int = 2,
        on postgres: PostgresServer? = nil,
        sharesFolder: Bool = false,
        _ body: (ServedDatabase) async throws -> Void
    ) async throws {
        let postgres = try postgres ?? PostgresServer.shared.get()
        let database = PostgresServer.url(try postgres.newDatabase())
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ServedDatabase-\(UUID().uuidString)")
        let assets = folder.appendingPathComponent("assets")
        try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var servers: [CommandProcess.Running] = []
        defer { for server in servers { server.end(SIGTERM) } }
        for _ in 0..<count {
            servers.append(
                try await CommandProcess.start(
                    ["serve", "--database", database, "--port", "0", "--container", container]
                        + (sharesFolder ? ["--assets", assets.path] : [])
                )
            )
        }
        let urls = try servers.map { server in
            try #require(server.greeting.hasPrefix("Serving \(container) at http://127.0.0.1:"))
            let address = try #require(server.greeting.firstMatch(of: /http:[^ ]*[0-9]/))
            return String(address.output)
        }
        try await body(ServedDatabase(database: database, urls: urls, folder: folder))
    }

    /// Runs a command on the database.
    func administer(
        _ arguments: String...,
        input: String = ""
    ) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(
            arguments,
            settings: ["CLOUDKIT_DATABASE": database],
            input: input
        )
    }

    /// Adds a user; returns the settings of a client of a server.
    func addUser(_ name: String, at server: Int = 0) async throws -> [String: String] {
        let added = try await administer("users", "add", name, "--no-password")
        try #require(added.status == 0, "\(added.errors)")
        let token = try await administer(
            "tokens",
            "web-auth",
            "--user",
            name,
            "--url",
            urls[server],
            "--json"
        )
        try #require(token.status == 0, "\(token.errors)")
        return try #require(try token.objects().first as? [String: String])
    }

    /// Runs a command as a client of a server; returns the objects that it prints.
    func objects(
        _ arguments: String...,
        at server: Int,
        as settings: [String: String]
    ) async throws -> [[String: Any]] {
        let outcome = try await run(arguments + ["--json"], at: server, as: settings)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return try outcome.objects()
    }

    /// Runs a command as a client of a server.
    func run(
        _ arguments: [String],
        at server: Int,
        as settings: [String: String]
    ) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(
            arguments,
            settings: settings.merging(["CLOUDKIT_URL": urls[server]]) { $1 }
        )
    }

    /// Sends a request to a server.
    func send(
        _ path: String,
        to server: Int,
        form: String? = nil
    ) async throws -> TransportResponse {
        try await HTTPTransport().send(
            TransportRequest(
                method: form == nil ? "GET" : "POST",
                url: urls[server] + path,
                headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: form.map { Data($0.utf8) },
                timeout: 60
            )
        )
    }
}
#endif
