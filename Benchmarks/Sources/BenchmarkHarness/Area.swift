/// A group of benchmarks that are prepared and requested together.
public struct Area: Sendable {
    /// The first part of every report line, for example "codable".
    public var name: String

    /// Prepares the benchmarks: creates their inputs, starts their servers.
    ///
    /// Called once, and only when the area is requested. ``SkippedArea`` leaves the area out.
    public var benchmarks: @Sendable () async throws -> [Benchmark]

    /// Creates an area.
    public init(name: String, benchmarks: @escaping @Sendable () async throws -> [Benchmark]) {
        self.name = name
        self.benchmarks = benchmarks
    }
}

/// An error with which an area says that this machine lacks what it needs; the run does not fail.
public struct SkippedArea: Error {
    /// A description of what is missing, and of the remedy.
    public var reason: String

    /// Creates the error of an area that cannot run here.
    public init(_ reason: String) { self.reason = reason }
}
