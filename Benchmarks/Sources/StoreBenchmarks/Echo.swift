import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting

/// The first fetch after a device sent its rows, which returns all of them.
enum Echo {
    static func benchmark(_ name: String, _ bar: Bar, rows: Int) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            var measured: [Comparison.Round] = []
            for _ in 0..<min(rounds.count, 5) {
                let cloud = try await TestCloud()
                let user = try await cloud.addUser("Ada")
                let device = try await StoreDevice(try await cloud.device(of: user))
                try await device.insert(rows)
                let start = ContinuousClock.now
                let sent = try await device.store.sync()
                let sending = ContinuousClock.now - start
                let second = ContinuousClock.now
                let echo = try await device.store.sync()
                let fetching = ContinuousClock.now - second
                guard sent.saved == rows, echo.received.isEmpty else { throw Unequal() }
                measured.append(
                    Comparison.Round(
                        subject: fetching / .seconds(rows),
                        floor: sending / .seconds(rows)
                    )
                )
            }
            return Comparison(subject: "fetch", floor: "first sync", rounds: measured).timeFigure
        }
    }
}
