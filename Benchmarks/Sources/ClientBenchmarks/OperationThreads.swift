import BenchmarkHarness
import CloudKit
import Foundation
import Synchronization

/// The threads that operations use.
enum OperationThreads {
    /// Returns the maximum number of additional threads in the process while operations are added,
    /// are in flight, and return.
    static func peak(inFlight count: Int) async throws -> Figure {
        let before = try threads()
        var most = 0
        for _ in 0..<5 {
            let service = PreparedResponses(holds: true)
            let database = service.database
            // The queue of a container runs 256 at a time.
            let held = min(count, 256)
            let ended = Counter()
            async let all: Void = withTaskGroup { group in
                for _ in 0..<count {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            let operation = makeOperation {
                                ended.add()
                                continuation.resume()
                            }
                            database.add(operation)
                        }
                    }
                }
            }
            await service.wait(for: held)
            most = max(most, try threads())
            service.release()
            while ended.value < count {
                most = max(most, try threads())
                await Task.yield()
            }
            await all
        }
        return Figure(
            Double(most - before),
            detail: "\(most) threads at most, \(before) before, with \(count) operations at a time"
        )
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }

    private static func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
