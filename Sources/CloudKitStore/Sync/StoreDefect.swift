/// A defect that a test plants to check that the simulation finds it.
package enum StoreDefect: String, CaseIterable, Sendable {
    // MARK: Sending

    /// An acknowledgement clears an entry that has changed since it was sent.
    case acknowledgesTooMuch
    /// Entries leave the outbox when their batch is built.
    case clearsWhenSending
    /// The changes of a request without a response are dropped.
    case dropsUnanswered
    /// Changes refused because of a conflict are dropped.
    case dropsConflicts
    /// Quarantined changes are never retried.
    case neverRetries
    /// A reference that is the only change is not sent.
    case skipsReferences
    /// A value that becomes NULL is not sent.
    case skipsNulls
    /// A record is deleted without a check of its current version.
    case deletesBlindly
    /// The end of a deletion clears the entry of a row that was inserted again meanwhile.
    case forgetsReinsertions
    /// A row whose record is refused because its parent is missing is deleted.
    case deletesRefusedChildren
    /// A save whose response was lost is treated as one that never arrived.
    case ignoresStamp
    /// An acknowledgment does not update the base.
    case keepsOldBase
    /// The rows are sent to whichever user is signed in.
    case mixesAccounts

    // MARK: Fetching

    /// The server's version overwrites unsent fields.
    case overwritesEdits
    /// Rows are merged without their base.
    case mergesWithoutBase
    /// In a row with edits, the other fields do not follow the server.
    case discardsRemoteFields
    /// Changes of records that were just saved here are ignored.
    case ignoresSaved
    /// Fields that the server cleared stay set.
    case ignoresClearedFields
    /// A remote edit of a row clears its assets.
    case clearsAssets
    /// Deletions from the server ignore rows that have edits, and the record is forgotten.
    case forgetsEditedRows
    /// Deletions from the server are not applied.
    case ignoresDeletions
    /// After a fetch from the beginning, rows deleted meanwhile are not looked for.
    case skipsSweep
    /// The engine's state is stored, but some records of its fetch are not.
    case keepsTokenOnly
    /// A row whose parent has not arrived stops the fetch.
    case failsOnMissingParents
    /// A record of an unknown type stops the fetch.
    case failsOnUnknownTypes
    /// Fields that no column holds are forgotten.
    case dropsUnknownFields
    /// Records of unknown types are forgotten.
    case dropsUnknownTypes

    // MARK: Unique values

    /// Of two rows with the same UNIQUE value, the local one stays, whichever was first.
    case staysByArrival
    /// References to a row that lost are not redirected to the winner.
    case leavesReferences
    /// A row that lost is not in the journal.
    case forgetsDisplaced

    // MARK: Sharing

    /// Changes of permissions are ignored.
    case ignoresPermissions
    /// An edit that the user may not make is reverted without a trace.
    case forgetsRefused
    /// The rows of a share that ended stay.
    case keepsLostRows
    /// Rows that move into a shared tree with the row above them are not linked to it.
    case leavesUnlinked
}
