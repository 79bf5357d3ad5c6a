public import BenchmarkHarness

extension Area {
    /// The server over HTTP on the loopback interface, with its data in PostgreSQL and durable writes.
    ///
    /// The clients, the nodes and the floors run in this process, and PostgreSQL beside it.
    public static let postgres = Area(name: "postgres") {
        #if PostgreSQL
        guard let programs = PostgresFolder.programs else {
            throw SkippedArea("PostgreSQL is not installed: apt-get install postgresql")
        }
        let bench = try await PostgresBench.start(programs: programs)
        return [
            .rate("modify-200", .atLeast(0.5)) {
                (try await bench.users[0].modify(), try await bench.rawInserts())
            }
            .tellingSyncTime(in: bench.directory),
            .rate("saves-64", .atLeast(1.5)) {
                (bench.saves(), try await bench.rawTransactions())
            }
            .tellingSyncTime(in: bench.directory),
            .rate("saves-64-stepwise", .none) {
                (bench.saves(), try await bench.rawTransactions(areStepwise: true))
            },
            .rate("lookup-64", .atLeast(0.5)) {
                (try await bench.lookups(), try await bench.plainSelects())
            },
            .rate("changes-200", .atLeast(0.4)) {
                let work = try await bench.users[0].changesPage()
                return (work, try await bench.users[0].servedPage(of: try await bench.rawPage()))
            },
            .rate("changes-200-rows", .none) {
                (try await bench.users[0].changesPage(), try await bench.rawPage())
            },
            .rate("one-zone-64", .none) {
                (bench.saves(inOneZone: true), bench.saves())
            },
            .rate("three-nodes", .none) {
                (try await bench.lookups(nodes: 3), try await bench.lookups())
            },
            bench.userSize,
        ]
        #else
        throw SkippedArea(
            "built without PostgreSQL: apt-get install libpq-dev, and build with the trait PostgreSQL"
        )
        #endif
    }
}
