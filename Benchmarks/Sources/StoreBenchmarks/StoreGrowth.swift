public import BenchmarkHarness
import CloudKit
import CloudKitStore
import CloudKitTesting

/// The growth of a store's work with the number of its rows.
public enum StoreGrowth {
    /// Measures stores with some numbers of rows.
    public static func curves(_ counts: [Int], _ rounds: Rounds) async throws -> [Curve] {
        var first = Curve("first sync", "µs a row")
        var memory = Curve("peak memory of the first sync", "MB beyond the cloud in the process")
        var idle = Curve("sync with nothing to do", "µs")
        var open = Curve("opening, nothing to do", "ms")
        var few = rounds
        few.count = min(rounds.count, 3)
        for count in counts {
            let cloud = try await StoreCloud(rows: count)
            let work = Work("first sync", units: Double(count)) {
                _ = try await cloud.syncedDevice()
            }
            func add(_ value: Double, to curve: inout Curve) {
                curve.points.append(Curve.Point(count: count, value: value))
            }
            add(try await few.seconds(of: work) * 1_000_000, to: &first)
            add(try await Benchmark.peakMegabytes(of: work), to: &memory)
            let device = try await cloud.syncedDevice()
            let nothing = Work("idle") {
                let summary = try await device.store.sync()
                guard summary == SyncSummary() else { throw Unequal() }
            }
            add(try await rounds.seconds(of: nothing) * 1_000_000, to: &idle)
            let opening = try await Opening(cloud)
            var times: [Double] = []
            for _ in 0..<rounds.count { times.append(try await opening.seconds() * 1000) }
            add(times.sorted()[times.count / 2], to: &open)
        }
        return [first, memory, idle, open]
    }
}
