import AppleBenchmarks
import BenchmarkHarness
import ClientBenchmarks
import CodableBenchmarks
import CoreDataBenchmarks
import EngineBenchmarks
import ServerBenchmarks
import StoreBenchmarks
import WireBenchmarks

/// All areas, in the order in which they run.
let areas: [Area] = [
    .codable,
    .wire,
    .server,
    .postgres,
    .engine,
    .store,
    .coreData,
    .apple,
    .client,
]
