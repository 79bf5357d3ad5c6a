import Foundation

/// A number of a predicate, compared exactly: a large integer is not rounded to a fraction.
enum PredicateNumber {
    case integer(Int128)
    case fraction(Double)

    func order(with other: PredicateNumber) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): Self.order(left, right)
        case (.fraction(let left), .fraction(let right)): Self.order(left, right)
        case (.integer(let left), .fraction(let right)): Self.order(left, right)
        case (.fraction(let left), .integer(let right)):
            switch Self.order(right, left) {
            case .orderedAscending: .orderedDescending
            case .orderedDescending: .orderedAscending
            case .orderedSame: .orderedSame
            case nil: nil
            }
        }
    }

    private static func order(_ integer: Int128, _ fraction: Double) -> ComparisonResult? {
        guard !fraction.isNaN else { return nil }
        // All integers are within 65 bits.
        if abs(fraction) > 0x1p70 { return fraction > 0 ? .orderedAscending : .orderedDescending }
        let whole = Int128(fraction.rounded(.down))
        if integer != whole { return order(integer, whole) }
        return fraction == fraction.rounded(.down) ? .orderedSame : .orderedAscending
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult?
    {
        left < right
            ? .orderedAscending
            : left == right ? .orderedSame : left > right ? .orderedDescending : nil
    }
}
