/// The limit for a figure.
public struct Bar: Hashable, Sendable, CustomStringConvertible {
    private enum Direction {
        case atMost, atLeast, none
    }

    private var direction: Direction
    private var limit: Double

    /// Returns an upper limit, for example for a time in relation to a floor's time.
    public static func atMost(_ limit: Double) -> Bar {
        Bar(direction: .atMost, limit: limit)
    }

    /// Returns a lower limit, for example for a rate in relation to a floor's rate.
    public static func atLeast(_ limit: Double) -> Bar {
        Bar(direction: .atLeast, limit: limit)
    }

    /// No limit: the figure is for readers, because it depends on the machine more than on the code.
    public static let none = Bar(direction: .none, limit: 0)

    /// Returns whether a figure is within the limit; NaN never is.
    public func holds(for figure: Double) -> Bool {
        switch direction {
        case .atMost: figure <= limit
        case .atLeast: figure >= limit
        case .none: !figure.isNaN
        }
    }

    /// The limit in the form of the report: "≤2.0"; "–" for none.
    public var description: String {
        switch direction {
        case .atMost: "≤\(limit)"
        case .atLeast: "≥\(limit)"
        case .none: "–"
        }
    }
}
