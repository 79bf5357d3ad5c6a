/// The number and the length of measurements.
///
/// Subject and floor alternate in one process, and each round yields its own ratio, so that a machine
/// that is slower for a while is slower for both.
public struct Rounds: Sendable {
    /// The number of rounds that count; their median is the result.
    public var count: Int
    /// The minimum duration of a round, within which work is repeated.
    public var shortest: Duration
    private let now: @Sendable () -> Duration

    /// Creates rounds that are timed by a clock.
    public init<C: Clock>(
        count: Int = 15,
        shortest: Duration = .milliseconds(20),
        clock: C = ContinuousClock()
    ) where C.Duration == Duration {
        self.count = count
        self.shortest = shortest
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    /// Measures two pieces of work against each other.
    public func compare(_ subject: Work, with floor: Work) async throws -> Comparison {
        // Determining the repetitions is the warm-up: caches fill and allocators settle.
        let subjectCalls = try await calls(toFill: shortest, with: subject)
        let floorCalls = try await calls(toFill: shortest, with: floor)
        var rounds: [Comparison.Round] = []
        for index in 0..<count {
            // The order alternates, because the second work pays for the leftovers of the first.
            let subjectFirst = index.isMultiple(of: 2)
            let early =
                subjectFirst
                ? try await seconds(of: subject, calls: subjectCalls)
                : try await seconds(of: floor, calls: floorCalls)
            let late =
                subjectFirst
                ? try await seconds(of: floor, calls: floorCalls)
                : try await seconds(of: subject, calls: subjectCalls)
            rounds.append(
                subjectFirst
                    ? Comparison.Round(subject: early, floor: late)
                    : Comparison.Round(subject: late, floor: early)
            )
        }
        return Comparison(subject: subject.name, floor: floor.name, rounds: rounds)
    }

    /// Measures one piece of work: the median of its rounds, in seconds per unit.
    public func seconds(of work: Work) async throws -> Double {
        let calls = try await calls(toFill: shortest, with: work)
        var times: [Double] = []
        for _ in 0..<count { times.append(try await seconds(of: work, calls: calls)) }
        return times.sorted()[count / 2]
    }

    /// Doubles the number of calls until they take long enough.
    private func calls(toFill shortest: Duration, with work: Work) async throws -> Int {
        var calls = 1
        while try await duration(of: work, calls: calls) < shortest, calls < 1 << 30 {
            calls *= 2
        }
        return calls
    }

    /// Returns the seconds per unit.
    private func seconds(of work: Work, calls: Int) async throws -> Double {
        try await duration(of: work, calls: calls) / .seconds(1) / (Double(calls) * work.units)
    }

    private func duration(of work: Work, calls: Int) async throws -> Duration {
        let start = now()
        for _ in 0..<calls {
            try await work.body()
        }
        return now() - start
    }
}
