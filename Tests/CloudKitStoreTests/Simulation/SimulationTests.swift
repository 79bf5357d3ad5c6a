import CloudKitStore
import Foundation
import Testing

@Suite("Random schedules over the real store, engine and cloud")
struct SimulationTests {
    /// How many schedules run here; `CLOUDKIT_STORE_SEEDS` asks for more.
    static let count =
        ProcessInfo.processInfo.environment["CLOUDKIT_STORE_SEEDS"].flatMap(UInt64.init) ?? 40

    /// Schedules beyond those that found a mistake once.
    private static let remembered: [UInt64] = [77]

    @Test("At rest all devices hold the same, and no edit is lost")
    func schedules() async throws {
        for seed in Array(1...Self.count) + Self.remembered {
            var simulation = StoreSimulation(seed: seed)
            let problems = try await simulation.run()
            #expect(problems.isEmpty, "seed \(seed):\n\(problems.joined(separator: "\n"))")
            if !problems.isEmpty { return }
        }
    }

    /// Within how many schedules each defect has to be found.
    private static let limit: UInt64 = 40

    @Test("A defect that is put in on purpose is found", arguments: StoreDefect.allCases)
    func defect(_ defect: StoreDefect) async throws {
        for seed in 1...Self.limit {
            var simulation = StoreSimulation(seed: seed, defect: defect)
            let problems = try await simulation.run()
            guard problems.isEmpty else {
                if ProcessInfo.processInfo.environment["CLOUDKIT_STORE_SEEDS"] != nil {
                    print("\(defect) is found by seed \(seed): \(problems.last ?? "")")
                }
                return
            }
        }
        Issue.record("\(Self.limit) schedules did not find \(defect)")
    }
}
