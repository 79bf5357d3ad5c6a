/// Benchmarks that belong together and are asked for together.
public struct Area: Sendable {
    /// The first part of every report line: "codable".
    public var name: String

    /// Prepares the benchmarks: makes their inputs, starts their servers.
    ///
    /// Called once, and only when the area is asked for.
    public var benchmarks: @Sendable () async throws -> [Benchmark]

    /// Makes an area.
    public init(name: String, benchmarks: @escaping @Sendable () async throws -> [Benchmark]) {
        self.name = name
        self.benchmarks = benchmarks
    }
}
