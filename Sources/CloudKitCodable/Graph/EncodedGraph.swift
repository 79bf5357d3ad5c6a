public import CloudKit

/// The records that a graph of models was encoded into.
public struct EncodedGraph: Sendable {
    /// The identity of the root's record.
    public let rootID: CKRecord.ID

    /// All records of the graph, targets of references before their sources.
    public let records: [CKRecord]

    /// The records that a save must send: new ones, and known ones that changed.
    ///
    /// Known records that were children in the graph and are no longer in any of its lists come
    /// first: their references to the owner, and their parents, are cleared.
    public let changed: [CKRecord]

    /// Known records that the graph no longer reaches, in an order in which they can be deleted.
    public let orphans: [CKRecord.ID]

    /// References in known records to owners that no longer have them; they are cleared.
    let releases: Set<GraphRelease>
}
