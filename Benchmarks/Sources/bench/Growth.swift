import BenchmarkHarness
import Foundation
import ServerBenchmarks
import StoreBenchmarks

/// `bench grow [FILE]`: measures how times and memory grow with the number of records, one line per
/// curve on standard output, and a drawing in the file.
///
/// The store's largest number is a tenth of the server's, because its cloud is in the same process
/// and takes minutes to be filled.
enum Growth {
    static func run(_ file: String?, _ rounds: Rounds, say: (String) -> Void) async throws {
        let most = ProcessInfo.processInfo.environment["BENCH_GROW"].flatMap(Int.init) ?? 1_000_000
        let counts = [1000, 10_000, 100_000, 1_000_000].filter { $0 <= most }
        var curves = try await ServerGrowth.curves(counts, rounds)
        for curve in curves { say(curve.line) }
        let rows = try await StoreGrowth.curves(counts.filter { $0 <= most / 10 }, rounds)
        for curve in rows { say(curve.line) }
        curves += rows
        guard let file else { return }
        let version = ProcessInfo.processInfo.operatingSystemVersionString
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let caption =
            "bench grow, \(version), \(processors) processors; both scales are logarithmic, and a "
            + "level line does not grow with the number of records"
        try CurveChart(curves, caption: caption).svg
            .write(toFile: file, atomically: true, encoding: .utf8)
    }
}
