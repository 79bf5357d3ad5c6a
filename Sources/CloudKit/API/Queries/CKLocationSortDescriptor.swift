public import CoreLocation
public import Foundation

/// A sort order by distance from a location, nearest first.
open class CKLocationSortDescriptor: NSSortDescriptor {
    /// The location to measure distances from.
    open var relativeLocation: CLLocation { centre }

    private let centre: CLLocation

    /// Creates a sort order by a field with locations.
    public init(key: String, relativeLocation: CLLocation) {
        centre = relativeLocation
        #if canImport(ObjectiveC)
        super.init(key: key, ascending: true, selector: nil)
        #else
        super.init(keyPath: SortProbe.keyPath, ascending: true) { left, right in
            SortProbe.compare(left, right, key: key, from: relativeLocation)
        }
        #endif
    }

    init(key: String, relativeLocation: CLLocation, ascending: Bool) {
        centre = relativeLocation
        #if canImport(ObjectiveC)
        super.init(key: key, ascending: ascending, selector: nil)
        #else
        super.init(keyPath: SortProbe.keyPath, ascending: ascending) { left, right in
            SortProbe.compare(left, right, key: key, from: relativeLocation)
        }
        #endif
    }

    /// The reversed order, farthest first.
    open override var reversedSortDescriptor: Any {
        CKLocationSortDescriptor(
            key: key ?? "",
            relativeLocation: centre,
            ascending: !ascending
        )
    }

    /// Returns the order itself, because it is immutable.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    #if canImport(ObjectiveC)
    /// Compares two values by distance.
    open override func compare(_ left: Any, to right: Any) -> ComparisonResult {
        SortProbe.compare(left, right, key: key, from: centre)
    }

    /// Encodes the order.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(centre, forKey: "relativeLocation")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates an order from an archive; nil when a part is missing.
    public required init!(coder aDecoder: NSCoder) {
        guard
            let location = aDecoder.decodeObject(of: CLLocation.self, forKey: "relativeLocation")
        else { return nil }
        centre = location
        super.init(coder: aDecoder)
    }
    #else
    /// Encodes the order; Foundation's own sort descriptors cannot be archived on this platform.
    open func encode(with coder: NSCoder) {
        coder.encode(key as NSString?, forKey: "key")
        coder.encode(centre, forKey: "relativeLocation")
        if !ascending { coder.encode(true, forKey: "swift-cloudkit.descending") }
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates an order from an archive; nil when a part is missing.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let key = aDecoder.string(forKey: "key"),
            let location = aDecoder.object(CLLocation.self, forKey: "relativeLocation")
        else { return nil }
        centre = location
        let isDescending = aDecoder.truth(forKey: "swift-cloudkit.descending")
        super.init(keyPath: SortProbe.keyPath, ascending: !isDescending) { left, right in
            SortProbe.compare(left, right, key: key, from: location)
        }
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }
    #endif
}

#if !canImport(ObjectiveC)
extension CKLocationSortDescriptor: NSSecureCoding {}
#endif
