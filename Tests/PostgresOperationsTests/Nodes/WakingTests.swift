#if PostgreSQL
import CloudKitServer
import CloudKitServerCore
import CloudKitServerPostgres
import HTTPFixtures
import Logging
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "A client that waits at one node for what is written at another",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice),
    .timeLimit(.minutes(5))
)
struct WakingTests {
    @Test("Is notified before its wait is over, each time")
    func waking() async throws {
        let nodes = try await FailingNodes(count: 2)
        let door = try await nodes.doors(users: 1)[0]
        let history = ZoneHistory(zone: "Notes")
        try await history.prepare(door)
        let server = CloudServer(
            serving: nodes.services[1],
            configuration: .init(courierSeconds: 20),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let url = try await server.url()
            let listener = try await Listener(door, url: url)
            group.addTask { await listener.listen() }
            for round in 1...4 {
                while nodes.services[1].waitingRequests == 0 { await Task.yield() }
                // The node has looked once while somebody waits.
                try await Task.sleep(for: .milliseconds(300))
                _ = try await door.callUntilDone(
                    "records/modify",
                    [
                        "zoneID": history.zoneID,
                        "operations": [FixtureCloud.note("create", "\(round)", type: "Element")],
                    ],
                    node: 0
                )
                while listener.count < round, listener.ends == 0 { await Task.yield() }
                try #require(listener.ends == 0, "A wait ended without the notification")
            }
            group.cancelAll()
        }
    }
}
#endif
