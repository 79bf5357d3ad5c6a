/// A figure beside its bar.
public struct Verdict: Hashable, Sendable, CustomStringConvertible {
    /// The area and the benchmark: "codable/encode-10".
    public var name: String
    /// What was measured; not a number when the measurement failed.
    public var value: Double
    /// What was asked for.
    public var bar: Bar

    /// Makes a verdict.
    public init(name: String, value: Double, bar: Bar) {
        self.name = name
        self.value = value
        self.bar = bar
    }

    /// Whether the figure keeps to the bar.
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
