import CloudKitWebClient
import Testing

@Suite("Waiting")
struct DeadlineTests {
    @Test("A hundred thousand waits that are taken back leave nothing behind")
    func cancelled() async {
        for _ in 0..<100 {
            await withTaskGroup { group in
                for _ in 0..<1000 {
                    group.addTask {
                        try? await DeadlineClock().sleep(for: .seconds(7 * 24 * 3600))
                    }
                }
                group.cancelAll()
            }
        }
        // Other tests of the process also wait.
        let (count, room) = DeadlineQueue.shared.load
        #expect(count < 1000)
        #expect(room < 5000)
    }

    @Test("Waits end, and none before its time")
    func ends() async throws {
        let clock = DeadlineClock()
        let start = clock.now
        let ends = await withTaskGroup(of: Int.self) { group in
            for number in [3, 1, 2, 0] {
                group.addTask {
                    let end = start.advanced(by: .milliseconds(150 * number))
                    try? await clock.sleep(until: end, tolerance: nil)
                    return clock.now >= end ? number : -1
                }
            }
            var ends: [Int] = []
            for await end in group { ends.append(end) }
            return ends
        }
        #expect(Set(ends) == [0, 1, 2, 3])
    }

    @Test("A wait in an already cancelled task throws at once")
    func before() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await DeadlineClock().sleep(for: .seconds(3600))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
