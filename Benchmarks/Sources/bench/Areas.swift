import AppleBenchmarks
import BenchmarkHarness
import CodableBenchmarks
import EngineBenchmarks
import ServerBenchmarks
import WireBenchmarks

/// Every area, in the order in which they run.
let areas: [Area] = [
    .codable,
    .wire,
    .server,
    .engine,
    .apple,
]
