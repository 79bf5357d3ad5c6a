import CloudKitTesting
import Foundation
import Support
import Testing

/// Random schedules of engines in a zone with several shared trees.
@Suite("Engines of shared trees")
struct TreeScheduleTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    static var seeds: ClosedRange<UInt64> {
        let first = UInt64(number("CLOUDKIT_TREE_FIRST_SEED") ?? 1)
        return first...(first + UInt64(max(1, number("CLOUDKIT_TREE_SEEDS") ?? 6)) - 1)
    }

    @Test(
        "Every engine brings what its user may see, whatever is shared, moved, left and edited",
        arguments: seeds
    )
    func schedules(seed: UInt64) async throws {
        try await CloudFixture.inProcess.run { cloud in
            var schedule = try await TreeSchedule(seed: seed, in: cloud)
            try await schedule.run(steps: Self.number("CLOUDKIT_TREE_STEPS") ?? 80)
        }
    }
}
