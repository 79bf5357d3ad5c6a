import CloudKitStore
import CloudKitStoreTesting
import GRDB
import Testing

@Suite("Simulations of an app's tables")
struct StoreSimulationTests {
    @Test("An app whose tables can be synced passes, and the report says what happened")
    func passes() async throws {
        let report = try await StoreSimulation(migrator: App.migrator(), tables: App.tables)
            .run(seeds: 1...10)
        #expect(report.schedules == 10)
        #expect(report.edits > 100)
        #expect(report.faults > 10)
        #expect(report.crashes > 5)
        #expect(report.lostEdits > 0)
        #expect(report.rows.keys.sorted() == ["list", "setting", "tag", "task", "taskTag"])
        #expect(report.rows.values.allSatisfy { $0 > 0 })
    }

    @Test("A seed plays the same schedule each time")
    func repeats() async throws {
        let simulation = StoreSimulation(migrator: App.migrator(), tables: App.tables)
        #expect(try await simulation.run(seeds: [7]) == simulation.run(seeds: [7]))
    }

    @Test("Devices with an earlier version of the app upgrade on the way")
    func upgrades() async throws {
        var simulation = StoreSimulation(
            migrator: App.migrator(),
            tables: App.tables
        )
        simulation.earlier = .init(
            migratedUpTo: "1",
            tables: App.tables.filter { $0.name != "setting" }
        )
        let report = try await simulation.run(seeds: 1...5)
        #expect(report.upgrades > 2)
        #expect(report.rows["setting", default: 0] > 0)
    }

    @Test("A trigger that also changes what arrives is found, with few steps and as SQL")
    func triggers() async throws {
        let migrator = App.migrator(
            """
            CREATE TRIGGER touch AFTER UPDATE ON task BEGIN
                UPDATE task SET visits = visits + 1 WHERE id = new.id;
            END
            """
        )
        let simulation = StoreSimulation(migrator: migrator, tables: App.tables)
        let failure = await #expect(throws: StoreSimulation.Failure.self) {
            try await simulation.run(seeds: 1...20)
        }
        let text = try #require(failure?.description)
        #expect(text.contains("UPDATE \"task\" SET"))
        #expect(failure.map { $0.steps.count < 15 } == true)
    }

    @Test("A device's rows that contradict each other are found by the app's own check")
    func invariant() async throws {
        var simulation = StoreSimulation(migrator: App.migrator(), tables: App.tables)
        struct TooMany: Error {}
        // Each device may add one of its own, which no constraint can know.
        simulation.invariant = { database in
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM list") ?? 0
            if count > 3 { throw TooMany() }
        }
        let failure = await #expect(throws: StoreSimulation.Failure.self) {
            try await simulation.run(seeds: 1...20)
        }
        #expect(failure?.problems.first?.hasPrefix("invariant: device ") == true)
    }

    @Test("The app's own edits and values are used")
    func ownEdits() async throws {
        let migrator = App.migrator(
            "ALTER TABLE list ADD COLUMN mood TEXT CHECK (mood IN ('calm', 'gay'))"
        )
        var simulation = StoreSimulation(migrator: migrator, tables: App.tables)
        simulation.values["list.mood"] = { $0.chance(50) ? "calm" : "gay" }
        simulation.edits = [
            .init("finish a list") { database, _ in
                try database.execute(
                    sql: "UPDATE task SET done = 1 WHERE list = (SELECT min(id) FROM list)"
                )
            }
        ]
        let report = try await simulation.run(seeds: 1...5)
        #expect(report.refusedEdits < report.edits)
        #expect(report.rows["list", default: 0] > 0)
    }

    @Test("A table that never gets a row is an error, not a test that checks nothing")
    func coverage() async throws {
        let migrator = App.migrator(
            "CREATE TABLE code (id TEXT PRIMARY KEY NOT NULL CHECK (id GLOB 'AT-[0-9]'))"
        )
        let simulation = StoreSimulation(migrator: migrator, tables: App.tables + [.table("code")])
        let error = await #expect(throws: StoreSimulation.CoverageError.self) {
            try await simulation.run(seeds: 1...5)
        }
        #expect(error?.table == "code")
        #expect(error?.description.contains("CHECK constraint failed") == true)
    }
}

/// An app of lists with tasks, in two versions.
private enum App {
    static let tables: [SyncedTable] = [
        .table("list"), .table("task", fieldRules: ["visits": .counter]), .table("tag"),
        .table("taskTag"), .table("setting"),
    ]

    static func migrator(_ more: String? = nil) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE list (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, color BLOB);
                    CREATE TABLE task (
                        id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
                        done BOOLEAN NOT NULL DEFAULT 0, due DATE, effort REAL,
                        visits INTEGER NOT NULL DEFAULT 0,
                        list TEXT NOT NULL REFERENCES list (id) ON DELETE CASCADE
                    );
                    CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE);
                    CREATE TABLE taskTag (
                        task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
                        tag TEXT NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
                        PRIMARY KEY (task, tag)
                    );
                    """
            )
        }
        migrator.registerMigration("2") { database in
            try database.execute(
                sql: """
                    ALTER TABLE task ADD COLUMN note TEXT;
                    CREATE TABLE setting (name TEXT PRIMARY KEY NOT NULL, value JSON);
                    """
            )
        }
        if let more {
            migrator.registerMigration("3") { try $0.execute(sql: more) }
        }
        return migrator
    }
}
