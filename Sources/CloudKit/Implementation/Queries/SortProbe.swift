import CoreLocation
import Foundation

/// An object whose comparison tells a sort descriptor's key: Foundation keeps only a closure.
final class SortProbe: NSObject {
    var key: String?

    /// The key path of the descriptors that a probe may be given to; nobody else can write it.
    static var keyPath: KeyPath<NSObject, NSObject> { \.comparedByKey }

    /// Tells a probe the key, and orders everything else by it, or by the distance from a place.
    static func compare(
        _ left: Any,
        _ right: Any,
        key: String?,
        from centre: CLLocation? = nil
    ) -> ComparisonResult {
        for case let probe as SortProbe in [left, right] { probe.key = key }
        guard let key, !(left is SortProbe), !(right is SortProbe) else { return .orderedSame }
        let leftValue = value(of: left, key, centre)
        let rightValue = value(of: right, key, centre)
        switch (leftValue, rightValue) {
        case (nil, nil): return .orderedSame
        case (nil, _): return .orderedAscending
        case (_, nil): return .orderedDescending
        case (let leftValue?, let rightValue?):
            let comparing = PredicateComparing(record: left as? CKRecord, key: key)
            return comparing.sortOrder(leftValue, rightValue) ?? .orderedSame
        }
    }

    private static func value(
        of object: Any,
        _ key: String,
        _ centre: CLLocation?
    ) -> PredicateValue? {
        let value = PredicateEvaluation(object: object, bindings: [:]).value(forKey: key)
        guard let centre else { return value }
        guard case .field(.location(let location)) = value else { return nil }
        return .field(.double(location.queryDistance(to: centre)))
    }
}

extension NSObject {
    /// The object itself, under a key path that marks our sort descriptors.
    fileprivate var comparedByKey: NSObject { self }
}
