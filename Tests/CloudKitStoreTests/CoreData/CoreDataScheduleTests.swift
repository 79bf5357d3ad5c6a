import Foundation
import Testing

@Suite("Random schedules of a zone with an app that has Core Data")
struct CoreDataScheduleTests {
    private static let seeds = RequestedSchedules.seeds(of: "coredata", usual: 50)

    @Test(
        "At rest the phone, both devices and a new phone show the same, and nothing is lost",
        .timeLimit(.minutes(60))
    )
    func schedules() async throws {
        let began = ContinuousClock.now
        let failures = await withTaskGroup(of: (UInt64, [String], [String]).self) { group in
            var rest = Self.seeds
            func add() {
                guard let seed = rest.popFirst() else { return }
                group.addTask {
                    let outcome = await CoreDataSchedule.run(seed: seed)
                    return (seed, outcome.problems, outcome.trace)
                }
            }
            for _ in 0..<4 { add() }
            var failures: [(seed: UInt64, problems: [String], trace: [String])] = []
            for await (seed, problems, trace) in group {
                if !problems.isEmpty { failures.append((seed, problems, trace)) }
                add()
            }
            return failures.sorted { $0.seed < $1.seed }
        }
        let duration = ContinuousClock.now - began
        print("\(Self.seeds.count) coredata in \(duration), \(failures.count) fail")
        for failure in failures.prefix(3) {
            let story = (failure.trace + failure.problems).joined(separator: "\n")
            Issue.record("\(failures.count) schedules fail; seed \(failure.seed):\n\(story)")
        }
    }
}
