#if !canImport(ObjectiveC)
public import Foundation

// Foundation declares these unavailable on this platform; declarations of another module win.
extension NSSortDescriptor {
    /// Makes an order by a key: of a record's field, or of an entry of a dictionary.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: \NSObject.self, ascending: ascending) { left, right in
            SortProbe.compare(left, right, key: key)
        }
    }

    /// The key; nil for an order made from a key path or a closure.
    public var key: String? {
        let probe = SortProbe()
        _ = compare(probe, to: SortProbe())
        return probe.key
    }
}
#endif
