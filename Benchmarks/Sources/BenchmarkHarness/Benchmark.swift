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

    /// Makes two pieces of work that are measured against each other.
    public typealias Works = @Sendable () async throws -> (subject: Work, floor: Work)

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
        time(name, bar) { (subject, floor) }
    }

    /// The same for works whose inputs are expensive: they are made when it is measured.
    public static func time(_ name: String, _ bar: Bar, works: @escaping Works) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let works = try await works()
            return try await rounds.compare(works.subject, with: works.floor).timeFigure
        }
    }

    /// The subject's units per second, divided by the floor's.
    public static func rate(
        _ name: String,
        _ bar: Bar,
        subject: Work,
        floor: Work
    ) -> Benchmark {
        rate(name, bar) { (subject, floor) }
    }

    /// The same for works whose inputs are expensive: they are made when it is measured.
    public static func rate(_ name: String, _ bar: Bar, works: @escaping Works) -> Benchmark {
        Benchmark(name: name, bar: bar) { rounds in
            let works = try await works()
            return try await rounds.compare(works.subject, with: works.floor).rateFigure
        }
    }
}
