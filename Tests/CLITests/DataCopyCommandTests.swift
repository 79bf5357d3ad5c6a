#if PostgreSQL
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "cloudkit data copy, and backup and restore of a database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct DataCopyCommandTests {
    /// The settings of a client, and what it has seen.
    private struct Client {
        var settings: [String: String]
        var token: String
        var tag: String
    }

    private static func newDatabase() throws -> String {
        PostgresServer.url(try PostgresServer.shared.get().newDatabase())
    }

    private static func run(
        _ arguments: String...,
        settings: [String: String] = [:]
    ) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(arguments, settings: settings)
    }

    /// Runs a body with a server on some data.
    private static func serve(
        _ place: String...,
        body: (_ url: String) async throws -> Void
    ) async throws {
        let server = try await CommandProcess.start(
            ["serve", "--port", "0", "--container", ServedDatabase.container] + place
        )
        defer { server.end(SIGTERM) }
        let address = try #require(server.greeting.firstMatch(of: /http:[^ ]*[0-9]/))
        try await body(String(address.output))
    }

    /// Fills a folder through a server; returns a client.
    private static func fill(_ folder: String, _ files: URL) async throws -> Client {
        var client: Client?
        try await serve("--data", folder) { url in
            let added = try await run("users", "add", "Lin", "--no-password", "--data", folder)
            try #require(added.status == 0, "\(added.errors)")
            let made = try await run(
                "tokens",
                "web-auth",
                "--user",
                "Lin",
                "--url",
                url,
                "--data",
                folder,
                "--json"
            )
            try #require(made.status == 0, "\(made.errors)")
            let settings = try #require(try made.objects().first as? [String: String])
            let photo = files.appendingPathComponent("photo").path
            try Data("a photo".utf8).write(to: URL(fileURLWithPath: photo))
            for arguments in [
                ["zones", "create", "Notes"],
                [
                    "records", "save", "--zone", "Notes", "--type", "Note", "--name", "a",
                    "--field", "text=hello",
                ],
                [
                    "assets", "upload", photo, "--zone", "Notes", "--type", "Note", "--name", "b",
                    "--field", "photo",
                ],
            ] {
                let outcome = try await CommandProcess.run(arguments, settings: settings)
                try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
            }
            let changes = try await run(
                "records",
                "changes",
                "--zone",
                "Notes",
                "--json",
                settings: settings
            ).objects()
            client = Client(
                settings: settings,
                token: try #require(changes.last?["syncToken"] as? String),
                tag: try #require(
                    changes.first { $0["recordName"] as? String == "a" }?["recordChangeTag"]
                        as? String
                )
            )
        }
        return try #require(client)
    }

    /// Checks that a client goes on where it was.
    private static func goOn(_ client: Client, _ url: String, _ name: String) async throws {
        let settings = client.settings.merging(["CLOUDKIT_URL": url]) { $1 }
        let saved = try await run(
            "records",
            "save",
            "--zone",
            "Notes",
            "--type",
            "Note",
            "--name",
            name,
            settings: settings
        )
        #expect(saved.status == 0, "\(saved.errors)")
        let changes = try await run(
            "records",
            "changes",
            "--zone",
            "Notes",
            "--since",
            client.token,
            "--json",
            settings: settings
        )
        #expect(changes.status == 0, "\(changes.errors)")
        let names = try changes.objects().compactMap { $0["recordName"] as? String }
        #expect(names == [name])
        let old = try await run(
            "records",
            "get",
            "a",
            "--zone",
            "Notes",
            "--json",
            settings: settings
        )
        #expect(try old.objects().first?["recordChangeTag"] as? String == client.tag)
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("DataCopyCommandTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What stays is temporary.
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("A server's folder moves to a database and back, and its client notices nothing")
    func thereAndBack() async throws {
        try await Self.withFolder { folder in
            let data = folder.appendingPathComponent("cloud").path
            let back = folder.appendingPathComponent("back").path
            let client = try await Self.fill(data, folder)
            let database = try Self.newDatabase()
            let there = try await Self.run("data", "copy", "--from", data, "--to", database)
            #expect(there.status == 0, "\(there.errors)")
            #expect(there.output.contains("and 1 asset to the database"), "\(there.output)")
            #expect(there.output.contains("and compared all of them"), "\(there.output)")
            let again = try await Self.run(
                "data",
                "copy",
                "--from",
                database,
                "--to",
                back,
                "--json"
            )
            #expect(again.status == 0, "\(again.errors)")
            let report = try #require(try again.objects().first)
            #expect(report["rows"] as? Int == report["addedRows"] as? Int)
            #expect(report["assets"] as? Int == 1)
            #expect(report["differences"] as? [String] == [])
            try await Self.serve("--database", database) { try await Self.goOn(client, $0, "c") }
            try await Self.serve("--data", back) { try await Self.goOn(client, $0, "d") }
            let files = folder.appendingPathComponent("downloads").path
            try await Self.serve("--data", back) { url in
                let downloaded = try await Self.run(
                    "assets",
                    "download",
                    files,
                    "--name",
                    "b",
                    "--field",
                    "photo",
                    "--zone",
                    "Notes",
                    settings: client.settings.merging(["CLOUDKIT_URL": url]) { $1 }
                )
                #expect(downloaded.status == 0, "\(downloaded.errors)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: files)) == Data("a photo".utf8))
            for place in [["--data", back], ["--database", database]] {
                let check = try await CommandProcess.run(["check"] + place)
                #expect(check.status == 0, "\(check.output) \(check.errors)")
            }
        }
    }

    @Test("Data that is in use, or not empty, is refused in words")
    func refusals() async throws {
        try await Self.withFolder { folder in
            let data = folder.appendingPathComponent("cloud").path
            let other = folder.appendingPathComponent("other").path
            let database = try Self.newDatabase()
            func refused(_ from: String, _ to: String, _ words: String) async throws {
                let outcome = try await Self.run("data", "copy", "--from", from, "--to", to)
                #expect(outcome.status == 2, "\(outcome.output)")
                #expect(outcome.errors.contains(words), "\(outcome.errors)")
            }
            try await refused(data, database, "is not a data folder of a server")
            try await refused(database, other, "has no tables of cloudkit yet")
            _ = try await Self.fill(data, folder)
            try await refused(data, data, "name the same data; give two places")
            try await Self.serve("--data", data) { _ in
                try await refused(data, database, "A server works on \(data)")
            }
            try await Self.serve("--data", other) { _ in }
            try await refused(data, other, "\(other) has the data of a server")
            try await Self.serve("--database", database) { _ in }
            try await refused(data, database, "is not empty")
        }
    }

    @Test("A copy that fails midway is served by nothing, and the same command continues it")
    func interrupted() async throws {
        try await Self.withFolder { folder in
            let data = folder.appendingPathComponent("cloud").path
            let client = try await Self.fill(data, folder)
            let postgres = try PostgresServer.shared.get()
            let address = try postgres.newDatabase()
            let database = PostgresServer.url(address)
            try await PostgresServer.open(address).close()
            try postgres.run("ALTER TABLE record ADD CONSTRAINT none CHECK (false)", in: address)
            let failed = try await Self.run("data", "copy", "--from", data, "--to", database)
            #expect(failed.status == 2)
            #expect(failed.errors.contains("violates check constraint"), "\(failed.errors)")
            for command in [
                ["serve", "--database", database, "--port", "0"],
                ["users", "list", "--database", database],
                ["backup", folder.appendingPathComponent("b.tar").path, "--database", database],
            ] {
                let outcome = try await CommandProcess.run(command)
                #expect(outcome.status == 2, "\(outcome.output)")
                #expect(outcome.errors.contains("has an unfinished copy"), "\(outcome.errors)")
            }
            try postgres.run("ALTER TABLE record DROP CONSTRAINT none", in: address)
            let copied = try await Self.run(
                "data",
                "copy",
                "--from",
                data,
                "--to",
                database,
                "--json"
            )
            #expect(copied.status == 0, "\(copied.errors)")
            let report = try #require(try copied.objects().first)
            let (rows, added) = (report["rows"] as? Int ?? 0, report["addedRows"] as? Int ?? 0)
            #expect(added > 0 && added < rows, "\(report)")
            try await Self.serve("--database", database) { try await Self.goOn(client, $0, "c") }
        }
    }

    @Test("A backup of a database is restored to a folder and to a database")
    func backup() async throws {
        try await Self.withFolder { folder in
            let data = folder.appendingPathComponent("cloud").path
            let client = try await Self.fill(data, folder)
            let database = try Self.newDatabase()
            let copied = try await Self.run("data", "copy", "--from", data, "--to", database)
            try #require(copied.status == 0, "\(copied.errors)")
            let archive = folder.appendingPathComponent("backup.tar").path
            // A server may work on the database meanwhile.
            try await Self.serve("--database", database) { _ in
                let backup = try await Self.run("backup", archive, "--database", database)
                #expect(backup.status == 0, "\(backup.errors)")
                #expect(backup.output.contains("Backed up the database and 1 asset"))
            }
            let second = folder.appendingPathComponent("restored").path
            let third = try Self.newDatabase()
            for place in [["--data", second], ["--database", third]] {
                let restored = try await CommandProcess.run(["restore", archive] + place)
                #expect(restored.status == 0, "\(restored.errors)")
                let check = try await CommandProcess.run(["check"] + place)
                #expect(check.status == 0, "\(check.output) \(check.errors)")
                let server = try await CommandProcess.start(["serve", "--port", "0"] + place)
                defer { server.end(SIGTERM) }
                let address = try #require(server.greeting.firstMatch(of: /http:[^ ]*[0-9]/))
                let settings = client.settings.merging(["CLOUDKIT_URL": String(address.output)]) {
                    $1
                }
                // Clients may know more than the backup.
                let expired = try await Self.run(
                    "records",
                    "changes",
                    "--zone",
                    "Notes",
                    "--since",
                    client.token,
                    settings: settings
                )
                #expect(expired.status == 1)
                let found = try await Self.run(
                    "records",
                    "get",
                    "b",
                    "--zone",
                    "Notes",
                    settings: settings
                )
                #expect(found.status == 0, "\(found.errors)")
            }
            let full = try await Self.run("restore", archive, "--database", third)
            #expect(full.status == 2)
            #expect(full.errors.contains("is not empty"), "\(full.errors)")
        }
    }
}
#endif
