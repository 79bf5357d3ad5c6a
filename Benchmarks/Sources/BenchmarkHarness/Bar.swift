/// The limit that a figure has to keep to.
public struct Bar: Hashable, Sendable, CustomStringConvertible {
    private enum Direction {
        case atMost, atLeast
    }

    private var direction: Direction
    private var limit: Double

    /// A bar for what should be small, such as time against a floor's time.
    public static func atMost(_ limit: Double) -> Bar {
        Bar(direction: .atMost, limit: limit)
    }

    /// A bar for what should be large, such as a rate against a floor's rate.
    public static func atLeast(_ limit: Double) -> Bar {
        Bar(direction: .atLeast, limit: limit)
    }

    /// Whether a figure keeps to the bar; one that is not a number never does.
    public func holds(for figure: Double) -> Bool {
        switch direction {
        case .atMost: figure <= limit
        case .atLeast: figure >= limit
        }
    }

    /// The bar as the report shows it: "≤2.0".
    public var description: String {
        switch direction {
        case .atMost: "≤\(limit)"
        case .atLeast: "≥\(limit)"
        }
    }
}
