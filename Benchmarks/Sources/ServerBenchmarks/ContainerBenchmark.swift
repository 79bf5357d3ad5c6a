import BenchmarkHarness
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWebClient
import Foundation

extension Benchmark {
    /// The benchmarks of a reset, a snapshot and a restore of a container in memory, in milliseconds,
    /// as tests use them.
    static var containers: [Benchmark] {
        [
            container("reset-empty", .atMost(5), records: 0) { try await $0.reset() },
            container("reset-10000", .atMost(20), records: 10_000) { try await $0.reset() },
            container("snapshot-10000", .atMost(20), records: 10_000) { try await $0.snapshot() },
            container("restore-10000", .atMost(10), records: 10_000) { try await $0.restore() },
        ]
    }

    /// Returns the median of 15 times, each from the same state.
    private static func container(
        _ name: String,
        _ bar: Bar,
        records: Int,
        _ work: @escaping @Sendable (FilledContainer) async throws -> Void
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let container = try await FilledContainer(records: records)
            var times: [Double] = []
            for _ in 0..<15 {
                try await container.restore()
                let start = ContinuousClock.now
                try await work(container)
                times.append((ContinuousClock.now - start) / .milliseconds(1))
            }
            times.sort()
            let (least, most) = (Figure(times[0], detail: ""), Figure(times[14], detail: ""))
            return Figure(
                times[7],
                detail: "milliseconds with \(records) records in memory; 15 times, from "
                    + "\(least.value) to \(most.value)"
            )
        }
    }
}

/// A container in memory with a snapshot of its records.
private struct FilledContainer: Sendable {
    private static let name = "iCloud.bench"
    private let service: CloudService

    init(records: Int) async throws {
        service = CloudService(
            storage: try SQLiteStorage(path: nil),
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        let apiToken = try await service.addAPIToken(
            container: Self.name,
            environment: .development
        )
        let user = try await service.addUser(container: Self.name, name: "Ada")
        let webToken = try await service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        let escaped = webToken.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for start in stride(from: 0, to: records, by: 200) {
            let operations = (start..<start + 200).map {
                RecordOperation(.create, NoteBatch.note("n\($0)", $0))
            }
            let response = await service.respond(
                to: ServiceRequest(
                    method: "POST",
                    path: "/database/1/\(Self.name)/development/private/records/modify",
                    query: "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escaped)",
                    body: try WireJSON.encode(ModifyRecordsRequest(operations: operations)),
                    baseURL: ""
                )
            )
            guard response.status == 200 else {
                throw BenchError(description: String(decoding: response.body, as: UTF8.self))
            }
        }
        try await service.takeSnapshot("full", of: Self.name)
    }

    func reset() async throws { try await service.resetContainer(Self.name) }
    func restore() async throws { try await service.restoreSnapshot("full", of: Self.name) }
    func snapshot() async throws { try await service.takeSnapshot("another", of: Self.name) }
}
