import CoreLocation
import Foundation

/// An object whose comparison reveals a sort descriptor's key, because Foundation stores only a
/// closure.
final class SortProbe: NSObject {
    var key: String?

    /// The key path of the descriptors that accept a probe; no other code can write it.
    static var keyPath: KeyPath<NSObject, NSObject> { \.comparedByKey }

    /// Returns the key to a probe, and compares other objects by it, or by the distance from a
    /// location.
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
    /// The object itself, under a key path that identifies our sort descriptors.
    fileprivate var comparedByKey: NSObject { self }
}
