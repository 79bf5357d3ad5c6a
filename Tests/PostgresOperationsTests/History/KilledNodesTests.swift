#if PostgreSQL
import PostgresFixtures
import Testing

@Suite(
    "The history of each zone on nodes that are killed",
    .enabled(if: Rounds.ofHistory != nil, "Scripts/postgres history runs them")
)
struct KilledNodesTests {
    @Test("Is that of one copy, whatever became of calls without a response")
    func rounds() async throws {
        let cluster = try await NodeCluster(PostgresServer.shared.get().newDatabase(), nodes: 3)
        let doors = try await cluster.doors(users: 2)
        var all = HistoryRun.Figures()
        for round in 1...(try #require(Rounds.ofHistory)) {
            let run = try await HistoryRun(doors, name: "round-\(round)", seed: UInt64(round))
            let (figures, problems) = try await run.run(
                calls: 40,
                fault: { call in
                    guard call.isMultiple(of: 90) else { return }
                    await cluster.kill(call / 90 % 3)
                    try await cluster.start(call / 90 % 3)
                },
                heal: {}
            )
            for problem in problems { Issue.record("Round \(round): \(problem)") }
            all.known += figures.known
            all.unknown += figures.unknown
        }
        // The kills have met requests.
        #expect(all.unknown > 0)
        print("Killed nodes: \(all.known) calls, \(all.unknown) of unknown outcome")
    }
}
#endif
