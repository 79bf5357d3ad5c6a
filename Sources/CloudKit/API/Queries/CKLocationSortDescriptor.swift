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
        super.init(keyPath: \NSObject.self, ascending: true) { left, right in
            SortProbe.compare(left, right, key: key, from: relativeLocation)
        }
    }

    /// The order itself, which cannot change.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Writes the order; Foundation's own sort descriptors cannot be archived on this platform.
    open func encode(with coder: NSCoder) {
        coder.encode(key as NSString?, forKey: "key")
        coder.encode(centre, forKey: "relativeLocation")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads an order; nil when a part is missing.
    public convenience init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let key = aDecoder.string(forKey: "key"),
            let location = aDecoder.object(CLLocation.self, forKey: "relativeLocation")
        else { return nil }
        self.init(key: key, relativeLocation: location)
    }
}
