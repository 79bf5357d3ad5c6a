import BenchmarkHarness
import WireBenchmarks

/// Every area, in the order in which they run.
let areas: [Area] = [
    .wire
]
