/// A measurement and the limit for its figure.
public struct Benchmark: Sendable {
    /// The second part of the report line, without spaces, for example "encode-10".
    public var name: String
    /// The limit.
    public var bar: Bar
    /// Measures the figure.
    public var measure: @Sendable (Rounds) async throws -> Figure

    /// Creates a benchmark that measures its figure itself, for example a size in megabytes.
    public init(
        name: String,
        bar: Bar,
        measure: @escaping @Sendable (Rounds) async throws -> Figure
    ) {
        self.name = name
        self.bar = bar
        self.measure = measure
    }

    /// A closure that creates two pieces of work to be compared.
    public typealias Works = @Sendable () async throws -> (subject: Work, floor: Work)

    /// Returns a benchmark of the subject's time per unit, divided by the floor's.
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
        time(name, bar) { (subject, floor) }
    }

    /// Returns the same benchmark for works whose expensive inputs are created when it is measured.
    public static func time(_ name: String, _ bar: Bar, works: @escaping Works) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let works = try await works()
            return try await rounds.compare(works.subject, with: works.floor).timeFigure
        }
    }

    /// Returns a benchmark of the subject's units per second, divided by the floor's.
    public static func rate(
        _ name: String,
        _ bar: Bar,
        subject: Work,
        floor: Work
    ) -> Benchmark {
        rate(name, bar) { (subject, floor) }
    }

    /// Returns the same benchmark for works whose expensive inputs are created when it is measured.
    public static func rate(_ name: String, _ bar: Bar, works: @escaping Works) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let works = try await works()
            return try await rounds.compare(works.subject, with: works.floor).rateFigure
        }
    }
}
