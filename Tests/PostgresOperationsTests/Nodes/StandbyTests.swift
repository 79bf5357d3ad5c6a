#if PostgreSQL
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "Nodes whose primary is killed, with a synchronous standby that takes over",
    .enabled(if: Rounds.ofStandby != nil, "Scripts/postgres standby runs them")
)
struct StandbyTests {
    @Test("Go on within ten seconds, and lose nothing that was acknowledged")
    func takeover() async throws {
        let rounds = try #require(Rounds.ofStandby)
        for round in 1...rounds {
            let primary = try PostgresServer()
            let database = try primary.newDatabase()
            let standby = try PostgresServer(standbyOf: primary)
            try primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
            try primary.run("SELECT pg_reload_conf()", in: "postgres")
            let replicas = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            while try primary.run(replicas, in: "postgres") == "0" { await Task.yield() }
            let cluster = try await NodeCluster(
                database.replacingOccurrences(
                    of: primary.data,
                    with: "\(primary.data),\(standby.data)"
                ),
                nodes: 3
            )
            let door = try await cluster.doors(users: 1)[0]
            let workload = try await NodeWorkload(door, url: cluster.proxy.url)
            var reader = FeedReader(door)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 { group.addTask { try await workload.write(number) } }
                try await workload.wait(for: 40)
                try await reader.read()
                try primary.end()
                #expect(throws: CocoaError.self) { try primary.run("SELECT 1", in: "postgres") }
                try standby.run("SELECT pg_promote()", in: "postgres")
                try await workload.wait(for: 40)
                workload.end()
                try await group.waitForAll()
            }
            // Through the feed with the token of before, and from its beginning.
            try await reader.read()
            for problem in workload.problems(reader.records) + door.problems.all {
                Issue.record("Round \(round): \(problem)")
            }
            #expect(workload.longestPause < .seconds(10))
            print(
                """
                Round \(round): \(workload.acknowledged) acknowledged writes, \(workload.unknown) of \
                unknown outcome; longest time without an acknowledged write: \(workload.longestPause)
                """
            )
        }
    }
}
#endif
