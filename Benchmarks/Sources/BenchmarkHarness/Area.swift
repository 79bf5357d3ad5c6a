/// A group of benchmarks that are prepared and requested together.
public struct Area: Sendable {
    /// The first part of every report line, for example "codable".
    public var name: String

    /// Prepares the benchmarks: creates their inputs, starts their servers.
    ///
    /// Called once, and only when the area is requested.
    public var benchmarks: @Sendable () async throws -> [Benchmark]

    /// Creates an area.
    public init(name: String, benchmarks: @escaping @Sendable () async throws -> [Benchmark]) {
        self.name = name
        self.benchmarks = benchmarks
    }
}
