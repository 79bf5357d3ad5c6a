import Foundation

/// An object whose comparison tells a sort descriptor's key: Foundation keeps only a closure.
final class SortProbe: NSObject {
    var key: String?

    /// Tells a probe the key, and orders everything else by it.
    static func compare(_ left: Any, _ right: Any, key: String?) -> ComparisonResult {
        for case let probe as SortProbe in [left, right] { probe.key = key }
        guard let key, !(left is SortProbe), !(right is SortProbe) else { return .orderedSame }
        let leftValue = PredicateEvaluation(object: left, bindings: [:]).value(forKey: key)
        let rightValue = PredicateEvaluation(object: right, bindings: [:]).value(forKey: key)
        switch (leftValue, rightValue) {
        case (nil, nil): return .orderedSame
        case (nil, _): return .orderedAscending
        case (_, nil): return .orderedDescending
        case (let left?, let right?): return left.order(with: right, options: []) ?? .orderedSame
        }
    }
}
