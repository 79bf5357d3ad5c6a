/// A reference for which the deletion of its target matters.
public struct StoredReference: Hashable, Sendable {
    /// The kind of reference.
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
    /// The kind of reference.
    public var kind: Kind
    /// The creator whose records it counts among; empty for all creators.
    public var circle: String

    /// Creates a row.
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
