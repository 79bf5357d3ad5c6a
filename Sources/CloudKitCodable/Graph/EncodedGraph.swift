public import CloudKit

/// The records that a graph of models was encoded into.
public struct EncodedGraph: Sendable {
    /// The identity of the root's record.
    public let rootID: CKRecord.ID

    /// All records of the graph, targets of references before their sources.
    public let records: [CKRecord]

    /// The records that a save must send: new ones, and known ones of which something changed.
    ///
    /// Known records that were children in the graph and are in none of its lists any more come
    /// first: their references to the owner, and their parents, are cleared.
    public let changed: [CKRecord]

    /// Known records that the graph does not reach any more, in an order in which they can be deleted.
    public let orphans: [CKRecord.ID]

    /// What known records say of owners that have them no more, and what is cleared for that.
    let releases: Set<GraphRelease>
}
