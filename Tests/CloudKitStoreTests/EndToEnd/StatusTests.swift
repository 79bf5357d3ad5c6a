import CloudKit
import CloudKitStore
import CloudKitTesting
import GRDB
import Support
import Synchronization
import Testing

@Suite("The store says where things stand", .timeLimit(.minutes(10)))
struct StatusTests {
    /// Runs a test with a device and its requests, and another device of the same user.
    private func withDevices(
        _ configuration: CloudStore.Configuration = Device.configuration,
        _ body: @Sendable (Device, InterruptedTransport, Device) async throws -> Void
    ) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let holder = TransportHolder()
            let phone = try await Device(
                cloud,
                user,
                configuration: configuration,
                transport: holder.wrap
            )
            let laptop = try await Device(cloud, user)
            try await body(phone, holder.transport, laptop)
        }
    }

    /// Waits for a status.
    private func wait(
        _ statuses: inout AsyncThrowingStream<StoreStatus, any Error>.Iterator,
        until condition: (StoreStatus) -> Bool
    ) async throws -> StoreStatus? {
        while let status = try await statuses.next(isolation: #isolation) {
            if condition(status) { return status }
        }
        return nil
    }

    @Test("The status comes at once, and again when rows are written and when they are sent")
    func changes() async throws {
        try await withDevices { phone, _, _ in
            var statuses = phone.store.statuses.makeAsyncIterator()
            let first = try await statuses.next()
            #expect(first?.waitingToSend == 0 && first?.lastSync == nil)
            try await phone.run("INSERT INTO note (id) VALUES ('a'), ('b')")
            let second = try await wait(&statuses) { $0.waitingToSend == 2 }
            #expect(second?.oldestChange != nil)
            try await phone.store.sync()
            let last = try await wait(&statuses) { $0.lastSync != nil && $0.progress == nil }
            #expect(last?.isSettled == true)
        }
    }

    @Test("What the file does not say shows as well: a pause, its end, a sync that failed")
    func memory() async throws {
        try await withDevices { phone, transport, _ in
            try await phone.store.sync()
            var statuses = phone.store.statuses.makeAsyncIterator()
            #expect(try await statuses.next()?.obstacle == nil)
            phone.store.pause()
            #expect(try await wait(&statuses) { $0.obstacle != nil }?.obstacle == .paused)
            phone.store.resume()
            #expect(try await wait(&statuses) { $0.obstacle == nil } != nil)
            transport.fail("changes/database", .cut)
            await #expect(throws: CKError.self) { try await phone.store.sync() }
            let failed = try await wait(&statuses) { $0.obstacle != nil }
            guard case .failed? = failed?.obstacle else {
                Issue.record("\(String(describing: failed))")
                return
            }
        }
    }

    @Test("A status that is the same as before is not reported again")
    func equal() async throws {
        try await withDevices { phone, _, _ in
            var statuses = phone.store.statuses.makeAsyncIterator()
            let first = try await statuses.next()
            // Another clock, and no waiting changes.
            try await phone.run("INSERT INTO note (id) VALUES ('a')")
            try await phone.run("DELETE FROM note")
            try await phone.store.sync()
            var last = first
            while let status = try await statuses.next() {
                #expect(status != last)
                last = status
                if status.lastSync != nil, status.progress == nil { break }
            }
        }
    }

    @Test("The stream ends with the store")
    func end() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let statuses = try await Device(cloud, user).store.statuses
            for try await _ in statuses {}
        }
    }

    @Test("While it sends, what is done is counted against all there is")
    func sending() async throws {
        var configuration = Device.configuration
        configuration.batchLimit = 10
        try await withDevices(configuration) { phone, transport, _ in
            try await phone.store.sync()
            for number in 0..<25 {
                try await phone.run("INSERT INTO note (id) VALUES (?)", ["\(number)"])
            }
            let seen = Mutex<[SyncProgress?]>([])
            for _ in 0..<3 {
                transport.before("records/modify") {
                    let progress = try await phone.store.status.progress
                    seen.withLock { $0.append(progress) }
                }
            }
            try await phone.store.sync()
            let steps = seen.withLock { $0 }
            #expect(steps.map { $0?.direction } == [.sending, .sending, .sending])
            #expect(steps.map { $0?.done } == [0, 10, 20])
            #expect(steps.map { $0?.total } == [25, 25, 25])
            #expect(steps.last??.fraction == 0.8)
            #expect(try await phone.store.status.progress == nil)
        }
    }

    @Test("While it receives, what has come is counted, and nobody says how much there is")
    func receiving() async throws {
        try await withDevices { phone, transport, laptop in
            for number in 0..<25 {
                try await laptop.run("INSERT INTO note (id) VALUES (?)", ["\(number)"])
            }
            try await laptop.store.sync()
            var statuses = phone.store.statuses.makeAsyncIterator()
            let seen = Mutex<SyncProgress?>(nil)
            transport.before("changes/zone") {
                let progress = try await phone.store.status.progress
                seen.withLock { $0 = progress }
            }
            let sync = Task { try await phone.store.sync() }
            let last = try await wait(&statuses) { $0.lastSync != nil && $0.progress == nil }
            #expect(last != nil)
            #expect(try await sync.value.received.count == 25)
            let first = seen.withLock { $0 }
            #expect(first?.direction == .receiving && first?.done == 0 && first?.total == nil)
            #expect(first?.fraction == nil)
        }
    }

    @Test("A row waits to be sent, is synced, and is unknown when it is gone")
    func rows() async throws {
        try await withDevices { phone, _, _ in
            #expect(try await phone.store.state(of: "a", in: "note") == .unknown)
            try await phone.run("INSERT INTO note (id) VALUES ('a')")
            guard case .waitingToSend = try await phone.store.state(of: "a", in: "note") else {
                Issue.record("The row does not wait")
                return
            }
            try await phone.store.sync()
            #expect(try await phone.store.state(of: "a", in: "note") == .synced)
            try await phone.run("DELETE FROM note")
            try await phone.store.sync()
            #expect(try await phone.store.state(of: "a", in: "note") == .unknown)
        }
    }

    @Test("A paused store takes in nothing that the server reports, and all of it afterwards")
    func paused() async throws {
        var configuration = Device.configuration
        configuration.syncsAutomatically = true
        try await withDevices(configuration) { phone, transport, laptop in
            try await laptop.run("INSERT INTO note (id) VALUES ('a')")
            try await laptop.store.sync()
            try await phone.wait("SELECT count(*) FROM note", for: 1)
            phone.store.pause()
            // Changes arrive one at a time: each has been handled when the next is requested. The
            // fetch in flight at the pause may still see the first.
            var requests: [Int] = []
            for id in ["b", "c", "d"] {
                let (asked, ask) = AsyncStream<Void>.makeStream()
                transport.before("changes/database") { ask.finish() }
                try await laptop.run("INSERT INTO note (id) VALUES (?)", [id])
                try await laptop.store.sync()
                for await _ in asked {}
                let count = transport.script.withLock { script in
                    script.paths.count { $0.hasSuffix("changes/zone") }
                }
                requests.append(count)
            }
            #expect(requests[2] == requests[0])
            let late = try await phone.value("SELECT count(*) FROM note WHERE id IN ('c', 'd')")
            #expect(late == "0")
            phone.store.resume()
            try await phone.wait("SELECT count(*) FROM note", for: 4)
        }
    }
}
