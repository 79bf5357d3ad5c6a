import BenchmarkHarness
import Foundation
import ServerBenchmarks

/// `bench [AREA …]`: measures, one line per bar on standard output, details on standard error.
///
/// `bench grow [FILE]` measures curves instead (``Growth``).
@main
enum Bench {
    static func main() async throws {
        if let child = CommandLine.arguments.dropFirst().first.flatMap(ServerChild.init) {
            return try await child.run()
        }
        var rounds = Rounds()
        // More rounds for a profiler, beside which the preparations do not count.
        if let count = ProcessInfo.processInfo.environment["BENCH_ROUNDS"].flatMap(Int.init) {
            rounds.count = max(1, count)
        }
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "grow" {
            return try await Growth.run(arguments.dropFirst().first, rounds) {
                write($0, to: .standardOutput)
            }
        }
        let runner = Runner(
            areas: areas,
            rounds: rounds,
            report: { write($0, to: .standardOutput) },
            explain: { write($0, to: .standardError) }
        )
        exit(await runner.run(Array(arguments)))
    }

    private static func write(_ line: String, to handle: FileHandle) {
        handle.write(Data((line + "\n").utf8))
    }
}
