public import CoreLocation
public import Foundation

/// An order by distance from a place, nearest first.
open class CKLocationSortDescriptor: NSSortDescriptor {
    /// The place that distances are measured from.
    open var relativeLocation: CLLocation { centre }

    private let centre: CLLocation

    /// Makes an order of a field of locations.
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

    /// The order with the farthest first.
    open override var reversedSortDescriptor: Any {
        CKLocationSortDescriptor(
            key: key ?? "",
            relativeLocation: centre,
            ascending: !ascending
        )
    }

    /// The order itself, which cannot change.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    #if canImport(ObjectiveC)
    /// Compares by distance.
    open override func compare(_ left: Any, to right: Any) -> ComparisonResult {
        SortProbe.compare(left, right, key: key, from: centre)
    }

    /// Writes the order.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(centre, forKey: "relativeLocation")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads an order; nil when a part is missing.
    public required init!(coder aDecoder: NSCoder) {
        guard
            let location = aDecoder.decodeObject(of: CLLocation.self, forKey: "relativeLocation")
        else { return nil }
        centre = location
        super.init(coder: aDecoder)
    }
    #else
    /// Writes the order; Foundation's own sort descriptors cannot be archived on this platform.
    open func encode(with coder: NSCoder) {
        coder.encode(key as NSString?, forKey: "key")
        coder.encode(centre, forKey: "relativeLocation")
        if !ascending { coder.encode(true, forKey: "swift-cloudkit.descending") }
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads an order; nil when a part is missing.
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

    /// True: an archived order can be read securely.
    open class var supportsSecureCoding: Bool { true }
    #endif
}

#if !canImport(ObjectiveC)
extension CKLocationSortDescriptor: NSSecureCoding {}
#endif
