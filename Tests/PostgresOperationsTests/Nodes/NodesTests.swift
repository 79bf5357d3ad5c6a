#if PostgreSQL
import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import PostgresFixtures
import Synchronization
import Testing

@Suite(
    "Three nodes behind HAProxy that are killed, stopped and started",
    .enabled(if: Rounds.ofNodes != nil, "Scripts/postgres nodes runs them")
)
struct NodesTests {
    @Test(
        "Lose no acknowledged write, report each change once, and wake whoever waits at another node"
    )
    func rounds() async throws {
        let rounds = try #require(Rounds.ofNodes)
        let server = try PostgresServer.shared.get()
        let cluster = try await NodeCluster(server.newDatabase(), nodes: 3)
        let door = try await cluster.doors(users: 1)[0]
        let url = cluster.proxy.url
        let workload = try await NodeWorkload(door, url: url)
        let listener = try await Listener(door, url: url)
        let devices = try await Devices(door, url: url)
        var reader = FeedReader(door)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 { group.addTask { try await workload.write(number) } }
            group.addTask { await listener.listen() }
            group.addTask { try await devices.work() }
            for round in 0..<rounds {
                try await Self.fail(round, cluster, workload)
                let heard = listener.count
                try await reader.read()
                // The writers go on, so that whoever waits is notified.
                try await workload.wait(for: 4)
                try await Self.wait { listener.count > heard }
            }
            workload.end()
            devices.end()
            // The listener alone goes on.
            for _ in 0..<5 { try await group.next() }
            group.cancelAll()
        }
        try await reader.read()
        for problem in workload.problems(reader.records) + door.problems.all {
            Issue.record("\(problem)")
        }
        for problem in try await devices.problems() { Issue.record("\(problem)") }
        print(
            """
            \(rounds) rounds: \(workload.acknowledged) acknowledged writes of the web client, \
            \(workload.unknown) of unknown outcome, \(devices.names) names of the sync engine, \
            \(devices.notes) rows of the store, \(listener.count) notifications; longest time without \
            an acknowledged write: \(workload.longestPause)
            """
        )
    }

    /// Ends nodes in one of several ways, and starts them again.
    private static func fail(
        _ round: Int,
        _ cluster: NodeCluster,
        _ workload: NodeWorkload
    ) async throws {
        let node = round % cluster.count
        let other = (round + 1) % cluster.count
        try await workload.wait(for: 6)
        switch round % 4 {
        case 0, 1: await cluster.kill(node)
        case 2: #expect(await cluster.stop(node) == 0)
        default:
            await cluster.kill(node)
            #expect(await cluster.stop(other) == 0)
        }
        // The others serve alone.
        try await workload.wait(for: 6)
        try await cluster.start(node)
        if round % 4 == 3 { try await cluster.start(other) }
    }

    /// Waits until something holds, at most ten seconds, which is less than a wait for a notification takes.
    private static func wait(until isDone: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !isDone() {
            try #require(ContinuousClock.now < end, "Nobody was notified for ten seconds")
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// Two devices with an app of the sync engine, and two with the store.
private final class Devices: Sendable {
    private struct State {
        var names: Set<String> = []
        var notes: Set<String> = []
        var isEnded = false
    }

    private let sender: SyncedApp
    private let receiver: SyncedApp
    private let phone: SyncedNotes
    private let laptop: SyncedNotes
    private let state = Mutex(State())

    var names: Int { state.withLock { $0.names.count } }
    var notes: Int { state.withLock { $0.notes.count } }

    init(_ door: Door, url: String) async throws {
        func container() -> CKContainer {
            CKContainer(
                client: door.client(
                    url,
                    retrying: RetryPolicy(attempts: 5, delay: 0.05, longestDelay: 0.5)
                )
            )
        }
        sender = SyncedApp(container().privateCloudDatabase)
        receiver = SyncedApp(container().privateCloudDatabase)
        phone = try SyncedNotes(container())
        laptop = try SyncedNotes(container())
        try await phone.start()
        try await laptop.start()
    }

    func end() { state.withLock { $0.isEnded = true } }

    /// Adds names and notes, and syncs them, until `end`; and then until everything is synced.
    func work() async throws {
        var round = 0
        while true {
            let isEnded = state.withLock { $0.isEnded }
            round += 1
            if !isEnded {
                let (name, note) = ("name-\(round)", "note-\(round)")
                state.withLock { state in
                    state.names.insert(name)
                    state.notes.insert(note)
                }
                await sender.add([name])
                try await phone.add(note)
            } else {
                await sender.add([])
            }
            let isFetched = await succeeds { try await self.receiver.fetch() }
            let isSent = await succeeds { try await self.phone.sync() }
            let isRead = await succeeds { try await self.laptop.sync() }
            if isEnded, isFetched, isSent, isRead, sender.isDone { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Returns whether something succeeded; while nodes fail, it need not.
    private func succeeds(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return true
        } catch {
            return false
        }
    }

    /// Returns what one device has and another one lacks.
    func problems() async throws -> [String] {
        for _ in 0..<2 {
            try await receiver.fetch()
            try await phone.sync()
            try await laptop.sync()
        }
        let (names, notes) = state.withLock { ($0.names, $0.notes) }
        var problems: [String] = []
        if receiver.names != names {
            problems.append(
                "The engine lacks \(names.symmetricDifference(receiver.names).sorted())"
            )
        }
        for device in [phone, laptop] {
            let found = try await device.ids()
            if found != notes.sorted() {
                problems.append("The store lacks \(notes.symmetricDifference(found).sorted())")
            }
        }
        return problems
    }
}
#endif
