/// One figure and the bar it has to keep to.
public struct Benchmark: Sendable {
    /// The second part of the report line, without spaces: "encode-10".
    public var name: String
    /// The limit.
    public var bar: Bar
    /// Finds the figure.
    public var measure: @Sendable (Rounds) async throws -> Figure

    /// Makes a benchmark that finds its figure by itself, such as a size in megabytes.
    public init(
        name: String,
        bar: Bar,
        measure: @escaping @Sendable (Rounds) async throws -> Figure
    ) {
        self.name = name
        self.bar = bar
        self.measure = measure
    }

    /// The subject's time per unit, divided by the floor's.
    ///
    /// ```swift
    /// Benchmark.time("encode-10", .atMost(2.0), subject: encode, floor: assignments)
    /// ```
    public static func time(
        _ name: String,
        _ bar: Bar,
        subject: Work,
        floor: Work
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            try await rounds.compare(subject, with: floor).timeFigure
        }
    }

    /// The subject's units per second, divided by the floor's.
    public static func rate(
        _ name: String,
        _ bar: Bar,
        subject: Work,
        floor: Work
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            try await rounds.compare(subject, with: floor).rateFigure
        }
    }
}
