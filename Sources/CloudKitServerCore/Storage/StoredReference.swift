/// A reference whose target's deletion matters to the record that holds it.
public struct StoredReference: Hashable, Sendable {
    /// What the reference is.
    public enum Kind: Int64, Hashable, Sendable {
        /// Deleting the target deletes the source.
        case deleteSelf = 1
        /// The target cannot be deleted.
        case validate = 2
        /// The target is the source's parent in a shared hierarchy.
        case parent = 3
    }

    /// The record that holds the reference.
    public var source: RowID<StoredRecord>
    /// The name of the record that it points to, in the same zone.
    public var target: String
    /// What the reference is.
    public var kind: Kind
    /// Among whose records it counts: a creator's; empty for everybody's.
    public var circle: String

    /// Makes a row.
    public init(
        source: RowID<StoredRecord>,
        target: String,
        kind: Kind,
        circle: String = ""
    ) {
        self.source = source
        self.target = target
        self.kind = kind
        self.circle = circle
    }
}
