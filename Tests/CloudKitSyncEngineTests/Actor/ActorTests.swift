import CloudKit
import CloudKitTesting
import Support
import Testing

@Suite("Engines as they are, in virtual time")
struct ActorTests {
    /// Runs three devices of one user through a schedule.
    private func run(_ seed: UInt64, steps: Int = 150) async throws -> Stage {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser("Ada")
        let stage = Stage(seed: seed)
        for index in 0..<3 {
            let database = try await cloud.device(of: ada).privateCloudDatabase
            await stage.addDevice(database, isAutomatic: index < 2)
        }
        for _ in 0..<steps { await stage.step() }
        await stage.makePeace()
        return stage
    }

    @Test("The same seed gives the same run of engine, driver and machine", arguments: [1, 2])
    func determinism(_ seed: UInt64) async throws {
        let first = try await run(seed)
        let second = try await run(seed)
        #expect(first.trace.count > 300)
        let difference = zip(first.trace, second.trace).first { $0 != $1 }
        #expect(difference == nil, "\(String(describing: difference))")
        #expect(first.trace.count == second.trace.count)
        let other = try await run(seed + 100)
        #expect(other.trace != first.trace)
    }

    @Test("Whatever the order of jobs and faults, all devices agree in the end", arguments: 0..<24)
    func agreement(_ seed: UInt64) async throws {
        let stage = try await run(seed)
        let apps = stage.devices.map(\.app)
        for app in apps {
            #expect(
                app.list == apps[0].list,
                "seed \(seed): \(stage.trace.joined(separator: "\n"))"
            )
            #expect(app.engine.state.pendingRecordZoneChanges.isEmpty)
        }
        #expect(!stage.trace.contains { $0.hasSuffix("never settles") })
    }

    @Test("With nothing to do, nobody sleeps, asks or is notified")
    func idle() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(of: try await cloud.addUser("Ada"))
        let stage = Stage(seed: 7)
        await stage.addDevice(device.privateCloudDatabase, isAutomatic: true)
        await stage.settle()
        let (app, service) = stage.devices[0]
        let (story, sleeps) = (app.story, stage.clock.sleeps)
        // The zone that the app adds when the user signs in waits for other changes.
        #expect(sleeps == [.milliseconds(100)])
        #expect(app.engine.state.pendingDatabaseChanges.isEmpty)

        stage.clock.advance(to: .seconds(24 * 60 * 60))
        await stage.executor.drain()
        #expect(stage.clock.next == nil)
        #expect(stage.clock.sleeps == sleeps)
        #expect(!service.isWaiting)
        #expect(app.story == story)

        // Only an edit makes it wait, for further edits.
        app.save(["1": "Ann"])
        await stage.executor.drain()
        let now = stage.clock.now.time
        #expect(stage.clock.next == now + .milliseconds(100))
        app.save(["2": "Ben"])
        await stage.settle()
        #expect(Set(stage.clock.sleeps) == [.milliseconds(100), now + .milliseconds(100)])
        #expect(app.story.filter { $0 == "sentRecordZoneChanges" }.count == 1)
    }

    @Test("Without automatic syncing nothing happens that the app did not call for")
    func manual() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(of: try await cloud.addUser("Ada"))
        let stage = Stage(seed: 8)
        await stage.addDevice(device.privateCloudDatabase, isAutomatic: false)
        await stage.settle()
        let (app, service) = stage.devices[0]
        app.save(["1": "Ann"])
        service.push()
        await stage.settle()
        #expect(stage.clock.sleeps.isEmpty)
        // The signed-in user is the only request that the engine sends automatically.
        #expect(stage.trace.filter { $0.contains("request") }.count == 1)
        #expect(Set(app.story) == ["accountChange", "stateUpdate"])
        #expect(app.engine.state.pendingRecordZoneChanges.count == 1)
    }
}
