#if PostgreSQL
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "Databases that cannot be used",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct DatabaseRefusalTests {
    @Test(
        "Settings of a database that contradict each other are refused, with what to do",
        arguments: [
            (["--data", "cloud"], "--data and --database name two places for the same data"),
            (["--user", "Ada"], "cloudkit users add"),
            (["--direct-downloads"], "the assets are in the database"),
            (["--assets", "/nowhere/assets"], "/nowhere/assets is no folder"),
            (["--assets", "https://example.com"], "or a folder that all servers share"),
            (["--assets", "/tmp", "--direct-downloads"], "directly from S3 only"),
            (["--database-connections", "0"], "the least is 1"),
            (["--database-partitions", "1025"], "the most is 1024"),
        ]
    )
    func contradictions(options: [String], message: String) async throws {
        let outcome = try await CommandProcess.run(
            ["serve", "--database", "postgres://127.0.0.1:1/cloud"] + options
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(
        "Settings of a database are refused without one",
        arguments: ["connections", "partitions"]
    )
    func noDatabase(name: String) async throws {
        let outcome = try await CommandProcess.run(["serve", "--database-\(name)", "4"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("name one with --database"), "\(outcome.errors)")
    }

    @Test("A folder in the environment and a database on the command line are two places")
    func twoPlaces() async throws {
        let served = try await CommandProcess.run(
            ["serve", "--database", "postgres://127.0.0.1:1/cloud"],
            settings: ["CLOUDKIT_SERVE_DATA": "cloud"]
        )
        #expect(served.status == 2)
        #expect(
            served.errors.contains("CLOUDKIT_SERVE_DATA and --database name"),
            "\(served.errors)"
        )
        let listed = try await CommandProcess.run([
            "users", "list", "--data", "cloud", "--database", "postgres://127.0.0.1:1/cloud",
        ])
        #expect(listed.status == 2)
        #expect(listed.errors.contains("--data and --database name"), "\(listed.errors)")
        // A folder that is named overrides the variable.
        let folder = try await CommandProcess.run(
            ["users", "list", "--data", "/nowhere"],
            settings: ["CLOUDKIT_DATABASE": "postgres://127.0.0.1:1/cloud"]
        )
        #expect(folder.errors.contains("/nowhere is not a data folder"), "\(folder.errors)")
    }

    @Test(
        "An address that is none is refused without its password",
        arguments: [
            "postgres://ada:hush%zz@127.0.0.1/cloud", "postgres://ada:hush@127.0.0.1/cloud?what=1",
            "postgres:/ada:hush@127.0.0.1/cloud", "host=127.0.0.1 password = 'hush",
            "host=127.0.0.1 passwort=hush password=hush", "hush", "",
        ]
    )
    func noAddress(address: String) async throws {
        for arguments in [["serve", "--database"], ["users", "list", "--database"]] {
            let outcome = try await CommandProcess.run(arguments + [address])
            #expect(outcome.status == 2)
            #expect(
                outcome.errors.contains("--database: This is no address of a PostgreSQL database"),
                "\(outcome.errors)"
            )
            if address != "hush" { #expect(!outcome.errors.contains("hush"), "\(outcome.errors)") }
        }
        let positional = try await CommandProcess.run(["serve", "postgres://ada:hush@h/cloud"])
        #expect(positional.status == 2)
        #expect(!positional.errors.contains("hush"), "\(positional.errors)")
    }

    @Test("A database that does not exist is named, with how to create it")
    func missing() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        try PostgresServer.shared.get().run(
            "DROP DATABASE \(address.split(separator: "=").last ?? "")",
            in: "postgres"
        )
        for arguments in [["serve", "--port", "0"], ["users", "list"]] {
            let outcome = try await CommandProcess.run(
                arguments + ["--database", PostgresServer.url(address)]
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("createdb"), "\(outcome.errors)")
        }
    }

    @Test("A wrong password is refused at once, and shown to nobody; the right one is taken")
    func wrongPassword() async throws {
        let postgres = try PostgresServer()
        try postgres.addUser("ada", password: "right-one")
        let address = try postgres.newDatabase()
        try postgres.run("GRANT CREATE ON SCHEMA public TO ada", in: address)
        for (user, password) in [("ada:wrong-one", nil), ("ada", "wrong-one"), ("ada", nil)] {
            let outcome = try await CommandProcess.run(
                ["serve", "--port", "0", "--database", PostgresServer.url(address, user: user)],
                settings: password.map { ["PGPASSWORD": $0] } ?? [:]
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("PGPASSFILE"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("wrong-one"), "\(outcome.errors)")
        }
        let added = try await CommandProcess.run(
            [
                "users", "add", "Ada", "--no-password", "--new", "--container", "iCloud.a",
                "--database", PostgresServer.url(address, user: "ada"),
            ],
            settings: ["PGPASSWORD": "right-one"]
        )
        #expect(added.status == 0, "\(added.errors)")
    }

    @Test("A server that is not there is waited for, and named then")
    func unreachable() async throws {
        let outcome = try await CommandProcess.run([
            "users", "list", "--database", "postgres://ada:hush@127.0.0.1:1/cloud",
        ])
        #expect(outcome.status == 2)
        #expect(
            outcome.errors.contains("the database cloud on 127.0.0.1, port 1 cannot be used"),
            "\(outcome.errors)"
        )
        #expect(outcome.errors.contains("Connection refused"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("hush"), "\(outcome.errors)")
    }

    @Test("Tables of a newer version are refused")
    func newer() async throws {
        let postgres = try PostgresServer.shared.get()
        let address = try postgres.newDatabase()
        _ = try await PostgresServer.open(address)
        try postgres.run("INSERT INTO migration VALUES (99)", in: address)
        for arguments in [["serve", "--port", "0"], ["users", "list"]] {
            let outcome = try await CommandProcess.run(
                arguments + ["--database", PostgresServer.url(address)]
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("newer version of cloudkit"), "\(outcome.errors)")
        }
    }

    @Test("Tables of something else are refused, and kept", arguments: ["record", "migration"])
    func foreign(table: String) async throws {
        let postgres = try PostgresServer.shared.get()
        let address = try postgres.newDatabase()
        try postgres.run("CREATE TABLE \(table) (own text)", in: address)
        let outcome = try await CommandProcess.run([
            "serve", "--port", "0", "--database", PostgresServer.url(address), "--new-container",
        ])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("name a database that is empty"), "\(outcome.errors)")
        let tables = try postgres.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
            in: address
        )
        #expect(tables == table)
    }

    @Test("A database for other commands does not let serve make a folder")
    func otherVariable() async throws {
        let outcome = try await CommandProcess.run(
            ["serve", "--port", "0"],
            settings: ["CLOUDKIT_DATABASE": "postgres://127.0.0.1:1/cloud"]
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--database $CLOUDKIT_DATABASE"), "\(outcome.errors)")
    }

    @Test("A container that a database with others lacks is added with --new-container alone")
    func otherContainer() async throws {
        try await ServedDatabase.run(servers: 1) { cloud in
            let outcome = try await CommandProcess.run([
                "serve", "--database", cloud.database, "--port", "0", "--container", "iCloud.b",
            ])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("--new-container"), "\(outcome.errors)")
            let added = try await CommandProcess.start([
                "serve", "--database", cloud.database, "--port", "0", "--container", "iCloud.b",
                "--new-container",
            ])
            defer { added.end(SIGTERM) }
            #expect(
                added.greeting.hasPrefix("Serving iCloud.b, \(ServedDatabase.container) at"),
                "\(added.greeting)"
            )
        }
    }
}
#endif
