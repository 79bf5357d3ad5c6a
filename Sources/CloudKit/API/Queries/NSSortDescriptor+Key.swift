#if !canImport(ObjectiveC)
public import Foundation

// Foundation declares these members unavailable on this platform; those of another module take
// precedence.
extension NSSortDescriptor {
    /// Creates a sort order by the key of a record's field or of a dictionary's entry.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: SortProbe.keyPath, ascending: ascending) { left, right in
            SortProbe.compare(left, right, key: key)
        }
    }

    /// The key; nil for an order by a key path or a closure.
    public var key: String? {
        // A comparison by another key path would end the process when given a probe.
        guard keyPath == SortProbe.keyPath else { return nil }
        let probe = SortProbe()
        _ = compare(probe, to: SortProbe())
        return probe.key
    }
}
#endif
