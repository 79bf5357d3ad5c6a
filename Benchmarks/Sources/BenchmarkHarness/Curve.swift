/// A figure that was measured with ever more records or rows.
public struct Curve: Hashable, Sendable {
    /// The figure with one number of records.
    public struct Point: Hashable, Sendable {
        /// The number of records or rows.
        public var count: Int
        /// The figure.
        public var value: Double

        /// Creates a point.
        public init(count: Int, value: Double) {
            self.count = count
            self.value = value
        }
    }

    /// The name of what was measured.
    public var name: String
    /// The unit of the values, for example "µs a row".
    public var unit: String
    /// The points, in the order of their counts.
    public var points: [Point]

    /// Creates a curve.
    public init(_ name: String, _ unit: String, _ points: [Point] = []) {
        self.name = name
        self.unit = unit
        self.points = points
    }

    /// The curve in one line: "lookup, µs: 310 at 1000, 318 at 10000".
    public var line: String {
        let values = points.map { "\(Self.text($0.value)) at \($0.count)" }
        return "\(name), \(unit): \(values.joined(separator: ", "))"
    }

    /// Returns a number with three digits that count.
    static func text(_ value: Double) -> String {
        if value >= 100 { return "\(Int(value.rounded()))" }
        return value >= 10
            ? "\((value * 10).rounded() / 10)" : "\((value * 100).rounded() / 100)"
    }
}
