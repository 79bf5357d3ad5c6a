import BenchmarkHarness
import CloudKit
import Foundation

/// The memory that ended operations leave behind.
enum OperationMemory {
    /// Returns the process's size after a number of operations of default quality of service, divided
    /// by its size after a part of them.
    static func growth(from warmUp: Int, to count: Int) async throws -> Figure {
        let database = PreparedResponses().database
        try await run(warmUp, on: database)
        let before = try megabytes()
        try await run(count - warmUp, on: database)
        let after = try megabytes()
        return Figure(
            after / before,
            detail: String(
                format: "%.1f MB after %d, %.1f MB after %d",
                before,
                warmUp,
                after,
                count
            )
        )
    }

    /// Runs operations, 64 at a time.
    private static func run(_ count: Int, on database: CKDatabase) async throws {
        for _ in 0..<(count / 64) {
            await withTaskGroup { group in
                for _ in 0..<64 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            database.add(makeOperation { continuation.resume() })
                        }
                    }
                }
            }
        }
    }

    private static func megabytes() throws -> Double {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(separator: " ").compactMap { Double($0) }.first ?? 0
        return kilobytes / 1024
    }
}
