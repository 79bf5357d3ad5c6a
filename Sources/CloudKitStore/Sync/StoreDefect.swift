/// A mistake that a test puts in on purpose, to see that the simulation finds it.
package enum StoreDefect: String, CaseIterable, Sendable {
    /// An acknowledgement clears an entry that has changed since it was sent.
    case acknowledgesTooMuch
    /// A save whose answer was lost is taken for one that never arrived.
    case ignoresStamp
    /// The server's version overwrites fields that wait to be sent.
    case overwritesEdits
    /// Rows are merged without the version that both edits started from.
    case mergesWithoutBase
    /// Deletions from the server pass over rows that have edits, and the record is forgotten.
    case forgetsEditedRows
    /// The engine's state is kept, some records of its fetch are not.
    case keepsTokenOnly
    /// Deletions from the server are not applied.
    case ignoresDeletions
    /// What is refused as changed is given up.
    case dropsConflicts
    /// The base is not moved on by an acknowledgement.
    case keepsOldBase
}
