/// The result of a benchmark.
public struct Figure: Hashable, Sendable {
    /// The ratio, or the value in the benchmark's own unit, rounded to two digits.
    ///
    /// Rounded here, so that the verdict applies to the number in the report.
    public var value: Double
    /// An explanation of the value for readers: times, spread, number of rounds.
    public var detail: String

    /// Creates a figure.
    public init(_ value: Double, detail: String) {
        self.value = (value * 100).rounded() / 100
        self.detail = detail
    }
}
