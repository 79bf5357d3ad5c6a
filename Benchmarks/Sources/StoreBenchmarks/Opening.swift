import BenchmarkHarness
import CloudKit
import CloudKitStore
import Foundation
import GRDB

/// The opening of a store whose file is in sync, until it has started.
///
/// The database is open before, because that is GRDB's time.
struct Opening: Sendable {
    private let container: CKContainer
    private let file: DatabaseFile

    /// Prepares the file of a device that has fetched all rows.
    init(_ cloud: StoreCloud) async throws {
        container = cloud.container
        let device = try await cloud.syncedDevice()
        file = device.file
        await device.store.stop()
    }

    /// Opens the store once, and stops it again.
    func seconds() async throws -> Double {
        let start = ContinuousClock.now
        let device = try await StoreDevice(container, file: file)
        let opening = ContinuousClock.now - start
        await device.store.stop()
        return opening / .seconds(1)
    }

    /// Returns a benchmark of the median time, in milliseconds.
    static func benchmark(_ name: String, _ bar: Bar, _ cloud: Prepared<StoreCloud>) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let cloud = try await cloud.value
            let opening = try await Opening(cloud)
            // The first fills caches.
            _ = try await opening.seconds()
            var times: [Double] = []
            for _ in 0..<rounds.count { times.append(try await opening.seconds() * 1000) }
            times.sort()
            return Figure(
                times[times.count / 2],
                detail: "milliseconds with \(cloud.count) rows; \(times.count) times, from "
                    + "\(Figure(times[0], detail: "").value) to "
                    + "\(Figure(times[times.count - 1], detail: "").value)"
            )
        }
    }

    /// Returns a benchmark of the time with many rows, in relation to that with few.
    static func growth(
        _ name: String,
        _ bar: Bar,
        _ cloud: Prepared<StoreCloud>,
        fewer: Int
    ) -> Benchmark {
        .time(name, bar) {
            let (large, small) = (try await cloud.value, try await StoreCloud(rows: fewer))
            let (many, few) = (try await Opening(large), try await Opening(small))
            return (
                Work("\(large.count) rows") { keep(try await many.seconds()) },
                Work("\(fewer) rows") { keep(try await few.seconds()) }
            )
        }
    }
}
