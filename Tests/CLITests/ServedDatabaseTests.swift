#if PostgreSQL
import CloudKitExtras
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "cloudkit serve --database, and the commands on a database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct ServedDatabaseTests {
    @Test("What is saved at one server is read at another, by the same tokens")
    func twoServers() async throws {
        try await ServedDatabase.run { cloud in
            let ada = try await cloud.addUser("Ada Lovelace")
            _ = try await cloud.objects("zones", "create", "Notes", at: 0, as: ada)
            func save(_ name: String, at server: Int) async throws -> String? {
                let saved = try await cloud.objects(
                    "records",
                    "save",
                    "--type",
                    "Note",
                    "--name",
                    name,
                    "--zone",
                    "Notes",
                    at: server,
                    as: ada
                )
                return saved.first?["recordChangeTag"] as? String
            }
            /// The names of records that changed since a token, and the next token.
            func changes(
                since token: String?,
                at server: Int
            ) async throws -> ([String], String?) {
                let since = token.map { ["--since", $0] } ?? []
                let outcome = try await cloud.run(
                    ["records", "changes", "--zone", "Notes", "--json"] + since,
                    at: server,
                    as: ada
                )
                #expect(outcome.status == 0, "\(outcome.errors)")
                let objects = try outcome.objects()
                return (
                    objects.compactMap { $0["recordName"] as? String },
                    objects.last?["syncToken"] as? String
                )
            }
            let tag = try await save("a", at: 0)
            let found = try await cloud.objects(
                "records",
                "get",
                "a",
                "--zone",
                "Notes",
                at: 1,
                as: ada
            )
            #expect(found.first?["recordChangeTag"] as? String == tag)
            let (names, first) = try await changes(since: nil, at: 0)
            #expect(names == ["a"])
            _ = try await save("b", at: 1)
            let (newNames, second) = try await changes(since: first, at: 1)
            #expect(newNames == ["b"])
            #expect(try await changes(since: second, at: 0).0 == [])
            let (all, _) = try await changes(since: first, at: 0)
            #expect(all == ["b"])
        }
    }

    @Test(
        "A user who signs in at one server is signed in at the other, until an operator ends the session"
    )
    func session() async throws {
        try await ServedDatabase.run { cloud in
            let added = try await cloud.administer(
                "users",
                "add",
                "Grace",
                "--password-file",
                "-",
                input: "correct horse battery\n"
            )
            #expect(added.status == 0, "\(added.errors)")
            let api = try await cloud.administer("tokens", "api", "--url", cloud.urls[0], "--json")
            var settings = try #require(try api.objects().first as? [String: String])
            let token = try #require(settings["CLOUDKIT_API_TOKEN"])
            let response = try await cloud.send(
                "/sign-in?ckAPIToken=\(token)&redirect=http%3A%2F%2F127.0.0.1%3A1%2Fback",
                to: 0,
                form: "name=Grace&password=correct%20horse%20battery"
            )
            let location = response.headers.first { $0.key.lowercased() == "location" }?.value
            let target = URLComponents(string: try #require(location))
            let items = target?.queryItems ?? []
            let session = try #require(items.first { $0.name == "ckWebAuthToken" }?.value)
            settings["CLOUDKIT_WEB_AUTH_TOKEN"] = session
            for server in 0..<2 {
                let current = try await cloud.objects("users", "current", at: server, as: settings)
                #expect(current.count == 1)
            }
            let ended = try await cloud.administer("users", "sign-out", "Grace", "--json")
            #expect(try ended.objects().count == 1, "\(ended.errors)")
            for server in 0..<2 {
                // A server notices within five seconds.
                while try await cloud.run(["users", "current"], at: server, as: settings).status
                    == 0
                {}
            }
        }
    }

    @Test(
        "A file in a folder that the servers share comes from each, and no server looks elsewhere"
    )
    func sharedFolder() async throws {
        try await ServedDatabase.run(sharesFolder: true) { cloud in
            let ada = try await cloud.addUser("Ada")
            let photo = cloud.folder.appendingPathComponent("photo")
            let bytes = Data(String(repeating: "0123456789", count: 50_000).utf8)
            try bytes.write(to: photo)
            let saved = try await cloud.objects(
                "assets",
                "upload",
                photo.path,
                "--type",
                "Photo",
                "--field",
                "image",
                at: 0,
                as: ada
            )
            let copy = cloud.folder.appendingPathComponent("copy")
            _ = try await cloud.objects(
                "assets",
                "download",
                copy.path,
                "--name",
                try #require(saved.first?["recordName"] as? String),
                "--field",
                "image",
                at: 1,
                as: ada
            )
            #expect(try Data(contentsOf: copy) == bytes)
            let elsewhere = try await CommandProcess.run([
                "serve", "--database", cloud.database, "--port", "0",
            ])
            #expect(elsewhere.status == 2)
            let folder = cloud.folder.appendingPathComponent("assets").path
            #expect(
                elsewhere.errors.contains("The assets of this database are in \(folder), not in"),
                "\(elsewhere.errors)"
            )
            // The assets of one database are no place for those of another.
            let other = PostgresServer.url(try PostgresServer.shared.get().newDatabase())
            let foreign = try await CommandProcess.run([
                "serve", "--database", other, "--port", "0", "--assets", folder,
            ])
            #expect(foreign.status == 2)
            #expect(foreign.errors.contains("a cleaning would remove them"), "\(foreign.errors)")
        }
    }

    @Test("A server says that it is not ready while its database is away, and goes on after that")
    func readiness() async throws {
        let postgres = try PostgresServer()
        try await ServedDatabase.run(servers: 1, on: postgres) { cloud in
            #expect(try await cloud.send("/health/ready", to: 0).status == 200)
            try postgres.stop()
            #expect(try await cloud.send("/health/ready", to: 0).status == 503)
            #expect(try await cloud.send("/health/live", to: 0).status == 200)
            try postgres.start()
            while try await cloud.send("/health/ready", to: 0).status != 200 {}
            let ada = try await cloud.addUser("Ada")
            let zones = try await cloud.objects("zones", "list", at: 0, as: ada)
            #expect(zones.count == 1)
        }
    }

    @Test("A server prints which database it serves, and no password")
    func greeting() async throws {
        let postgres = try PostgresServer()
        let address = try postgres.newDatabase()
        try postgres.addUser("secretive", password: "hush-hush")
        try postgres.run("ALTER DATABASE cloud1 OWNER TO secretive", in: "postgres")
        let database = PostgresServer.url(address, user: "secretive:hush-hush")
        let printed = try await CommandProcess.run(
            ["serve", "--print-config"],
            settings: ["CLOUDKIT_SERVE_DATABASE": database]
        )
        #expect(printed.status == 0, "\(printed.errors)")
        #expect(printed.output.contains("user=secretive password=…"), "\(printed.output)")
        #expect(!printed.output.contains("hush"))
        let greeting = try await CommandProcess.shell(
            """
            folder=$(mktemp -d) && mkfifo "$folder/output" || exit
            "$0" serve --database '\(database)' --port 0 >"$folder/output" 2>&1 &
            while read -r line; do
                echo "$line"
                case $line in *operate*) break ;; esac
            done <"$folder/output"
            kill $! && wait $!
            rm -r "$folder"
            """
        )
        #expect(greeting.output.hasPrefix("Serving no container yet at"), "\(greeting.output)")
        #expect(
            greeting.output.contains("The data is in the database cloud1 on /tmp/"),
            "\(greeting.output)"
        )
        #expect(!greeting.output.contains("hush"))
    }

    @Test("Users, tokens and schemas are administered in a database as in a folder")
    func administration() async throws {
        let database = PostgresServer.url(try PostgresServer.shared.get().newDatabase())
        func run(
            _ arguments: String...,
            input: String = "",
            status: Int32 = 0
        ) async throws -> CommandProcess.Outcome {
            let outcome = try await CommandProcess.run(
                arguments + ["--database", database],
                input: input
            )
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            return outcome
        }
        let none = try await run("users", "list", status: 2)
        #expect(none.errors.contains("has no tables of cloudkit yet"), "\(none.errors)")
        let nameless = try await run("users", "add", "Ada", "--no-password", "--new", status: 2)
        #expect(nameless.errors.contains("give --new, and --container"), "\(nameless.errors)")
        _ = try await run(
            "users",
            "add",
            "Ada",
            "--no-password",
            "--new",
            "--container",
            "iCloud.a"
        )
        _ = try await run("users", "password", "Ada", "--password-file", "-", input: "a long one\n")
        let listed = try await run("users", "list", "--json")
        #expect(try listed.objects().map { $0["hasPassword"] as? Bool } == [true])
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let schema = folder.appendingPathComponent("a.ckdb").path
        try Data("DEFINE SCHEMA CREATE ROLE editor; RECORD TYPE Note (t STRING);".utf8)
            .write(to: URL(fileURLWithPath: schema))
        _ = try await run("schema", "import", schema)
        #expect(try await run("schema", "export").output.contains("RECORD TYPE Note"))
        let undeployed = try await CommandProcess.run([
            "schema", "diff", database + ":production", database,
        ])
        #expect(undeployed.status == 1, "\(undeployed.errors)")
        _ = try await run("schema", "deploy")
        let deployed = try await CommandProcess.run(
            ["schema", "check", "--against", database + ":production"],
            settings: ["CLOUDKIT_DATABASE": database]
        )
        #expect(deployed.status == 0, "\(deployed.errors)")
        let roles = try await run("users", "roles", "Ada", "--grant", "editor", "--json")
        #expect(try roles.objects().count == 1)
        let token = try await run("tokens", "web-auth", "--user", "Ada", "--json")
        #expect(try token.objects().first?["CLOUDKIT_CONTAINER"] as? String == "iCloud.a")
        let key = folder.appendingPathComponent("key.pem").path
        _ = try await run("tokens", "server-key", "--private-key-file", key, "--json")
        let credentials = try await run("tokens", "list", "--json").objects()
        #expect(credentials.count == 3)
        let registered = credentials.first { $0["kind"] as? String == "server-key" }
        _ = try await run("tokens", "revoke", try #require(registered?["id"] as? String))
        #expect(try await run("tokens", "list", "--json").objects().count == 2)
        _ = try await run("users", "delete", "Ada", "--force")
        // The key has a user of its own.
        #expect(try await !run("users", "list", "--json").output.contains("Ada"))
    }
}
#endif
