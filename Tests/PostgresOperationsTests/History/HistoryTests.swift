#if PostgreSQL
import CloudKitServerPostgres
import PostgresFixtures
import Testing

@Suite(
    "The history of each zone on several nodes whose database connections fail",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct HistoryTests {
    /// As many as the tests need to find the mutants; `Scripts/postgres history` runs more.
    static let roundNumbers: ClosedRange<Int> = 1...(Rounds.ofHistory ?? 3)

    @Test("Is that of one copy, in which each call takes effect once", arguments: roundNumbers)
    func rounds(round: Int) async throws {
        let nodes = try await FailingNodes(count: 3)
        let run = try await HistoryRun(
            nodes.doors(users: 2),
            name: "round-\(round)",
            seed: UInt64(round)
        )
        let (figures, problems) = try await run.run(
            calls: 40,
            fault: { try nodes.fail($0) },
            heal: {}
        )
        for problem in problems { Issue.record("Round \(round): \(problem)") }
        // The faults have met transactions.
        let counts = nodes.storages.map(\.counts)
        #expect(counts.map(\.resolutions).reduce(0, +) > 0)
        #expect(counts.map(\.repetitions).reduce(0, +) > 0)
        print("Round \(round): \(figures.known) calls, \(figures.unknown) of unknown outcome")
    }
}
#endif
