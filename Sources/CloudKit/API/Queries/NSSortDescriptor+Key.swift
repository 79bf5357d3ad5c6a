#if !canImport(ObjectiveC)
public import Foundation

// Foundation declares these unavailable on this platform; declarations of another module win.
extension NSSortDescriptor {
    /// Makes an order by a key: of a record's field, or of an entry of a dictionary.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: SortProbe.keyPath, ascending: ascending) { left, right in
            SortProbe.compare(left, right, key: key)
        }
    }

    /// The key; nil for an order made from a key path or a closure.
    public var key: String? {
        // A comparison by another key path ends the process when it meets a probe.
        guard keyPath == SortProbe.keyPath else { return nil }
        let probe = SortProbe()
        _ = compare(probe, to: SortProbe())
        return probe.key
    }
}
#endif
