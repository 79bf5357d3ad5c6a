#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A notification that waits to be fetched.
public struct StoredPush: Hashable, Sendable {
    /// The row; rows are in the order in which items were added.
    public var id: RowID<StoredPush>
    /// The queue: the hash of the token that may fetch from it.
    public var queue: Data
    /// The subject of the item, of which a queue holds only the newest item; `nil` for none.
    public var slot: String?
    /// The payload, which is opaque to an engine.
    public var body: Data

    /// Creates an item.
    public init(id: RowID<StoredPush>, queue: Data, slot: String?, body: Data) {
        self.id = id
        self.queue = queue
        self.slot = slot
        self.body = body
    }
}
