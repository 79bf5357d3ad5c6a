import CloudKit
import Testing

@Suite("Broken machines are found out")
struct DefectTests {
    /// The maximum number of seeds to find any defect.
    static let seedLimit: UInt64 = 500

    @Test("A defect is found by the simulation", arguments: SyncEngineDefect.allCases)
    func found(_ defect: SyncEngineDefect) {
        for seed in 0..<Self.seedLimit {
            var simulation = Simulation(seed: seed, defect: defect)
            simulation.run()
            if let problem = simulation.problems.first {
                print("\(defect) found with seed \(seed): \(problem)")
                return
            }
        }
        Issue.record("\(defect) was not found within \(Self.seedLimit) seeds")
    }
}
