import CloudKitWebClient
import Testing

@Suite("The delays of a retry policy")
struct RetryDelayTests {
    private let policy = RetryPolicy(attempts: 5, delay: 2, longestDelay: 30, jitter: 0.25)

    /// The seconds of the delays after 1, 2, … failures.
    private func delays(
        _ policy: RetryPolicy,
        _ count: Int,
        retryAfter: Double? = nil,
        chance: Double
    ) -> [Duration] {
        (1...count).map {
            policy.delay(afterFailures: $0, retryAfter: retryAfter, chance: chance)
        }
    }

    @Test("Each delay is twice the last, up to the limit")
    func doubling() {
        let policy = RetryPolicy(attempts: 5, delay: 2, longestDelay: 30)
        for chance in [0, 0.999] {
            #expect(
                delays(policy, 6, chance: chance) == [2, 4, 8, 16, 30, 30].map { .seconds($0) }
            )
        }
    }

    @Test("Jitter leaves out a random part of each delay, at most its own share")
    func jitter() {
        #expect(delays(policy, 5, chance: 0) == [1.5, 3, 6, 12, 22.5].map { .seconds($0) })
        #expect(delays(policy, 5, chance: 0.5) == [1.75, 3.5, 7, 14, 26.25].map { .seconds($0) })
        var whole = policy
        whole.jitter = 1
        #expect(delays(whole, 2, chance: 0) == [.zero, .zero])
    }

    @Test("A server that requests a delay gets at least that, and an hour at most")
    func retryAfter() {
        #expect(
            delays(policy, 4, retryAfter: 7, chance: 0) == [7, 7, 7, 12].map { .seconds($0) }
        )
        let requests: [(Double, Double)] = [(90, 90), (86_400, 3600), (-5, 1.5), (.nan, 1.5)]
        for (requested, seconds) in requests {
            #expect(
                policy.delay(afterFailures: 1, retryAfter: requested, chance: 0)
                    == .seconds(seconds)
            )
        }
    }

    @Test("Any number of failures has a delay")
    func extremes() {
        for failures in [Int.min, -1, 0, 1] {
            #expect(policy.delay(afterFailures: failures, chance: 0) == .seconds(1.5))
        }
        #expect(policy.delay(afterFailures: .max, chance: 0) == .seconds(22.5))
    }

    @Test("Sync engines wait a second, then twice as long, five minutes at most, half of it jitter")
    func engine() {
        let longest = delays(.engine, 12, chance: 1)
        #expect(
            longest == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map { .seconds($0) }
        )
        #expect(delays(.engine, 12, chance: 0) == longest.map { $0 / 2 })
    }
}
