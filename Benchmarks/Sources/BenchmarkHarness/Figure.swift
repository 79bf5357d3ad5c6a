/// What a benchmark found.
public struct Figure: Hashable, Sendable {
    /// The ratio, or the value in the benchmark's own unit, rounded to two digits.
    ///
    /// Rounded here, so that the verdict is about the number that the report shows.
    public var value: Double
    /// How the value came about, for people: times, spread, number of rounds.
    public var detail: String

    /// Makes a figure.
    public init(_ value: Double, detail: String) {
        self.value = (value * 100).rounded() / 100
        self.detail = detail
    }
}
