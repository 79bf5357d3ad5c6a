/// A figure beside its bar.
public struct Verdict: Hashable, Sendable, CustomStringConvertible {
    /// The area and the benchmark, for example "codable/encode-10".
    public var name: String
    /// The measured value; NaN when the measurement failed.
    public var value: Double
    /// The required limit.
    public var bar: Bar

    /// Creates a verdict.
    public init(name: String, value: Double, bar: Bar) {
        self.name = name
        self.value = value
        self.bar = bar
    }

    /// `true` when the figure is within the limit.
    public var holds: Bool {
        bar.holds(for: value)
    }

    /// The report line: "codable/encode-10 1.42 ≤2.0 holds".
    public var description: String {
        "\(name) \(twoDigits) \(bar) \(holds ? "holds" : "falls short")"
    }

    private var twoDigits: String {
        guard value.isFinite else { return "\(value)" }
        let hundredths = Int((value * 100).rounded())
        let digits = "\(hundredths % 100)"
        return "\(hundredths / 100)." + (digits.count == 1 ? "0" : "") + digits
    }
}
