public import BenchmarkHarness
import CloudKit
import CloudKitExtras
import CloudKitWebClient

extension Area {
    /// The memory and threads of a long-lived program: operations receive prepared responses, so that
    /// only the client is measured.
    public static let client = Area(name: "client") {
        [
            Benchmark(name: "memory-operations-100000", bar: .atMost(1.1)) { _ in
                try await OperationMemory.growth(from: 20_000, to: 100_000)
            },
            Benchmark(name: "threads-64", bar: .atMost(12)) { _ in
                try await OperationThreads.peak(inFlight: 64)
            },
            Benchmark(name: "threads-400", bar: .atMost(12)) { _ in
                try await OperationThreads.peak(inFlight: 400)
            },
        ]
    }
}
