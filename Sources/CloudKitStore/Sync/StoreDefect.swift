/// A mistake that a test puts in on purpose, to see that the simulation finds it.
package enum StoreDefect: String, CaseIterable, Sendable {
    // MARK: Sending

    /// An acknowledgement clears an entry that has changed since it was sent.
    case acknowledgesTooMuch
    /// Entries leave the outbox when their batch is made.
    case clearsWhenSending
    /// What a request that nobody answered carried is given up.
    case dropsUnanswered
    /// What is refused as changed is given up.
    case dropsConflicts
    /// What was set aside is never tried again.
    case neverRetries
    /// A reference that changes alone is not sent.
    case skipsReferences
    /// A value that becomes NULL is not sent.
    case skipsNulls
    /// A record is deleted without a look at what it has become.
    case deletesBlindly
    /// The end of a deletion clears the entry of a row that was made again meanwhile.
    case forgetsReinsertions
    /// A row whose record is refused for want of its parent is deleted.
    case deletesRefusedChildren
    /// A save whose answer was lost is taken for one that never arrived.
    case ignoresStamp
    /// The base is not moved on by an acknowledgement.
    case keepsOldBase
    /// The rows go to whoever is signed in.
    case mixesAccounts

    // MARK: Fetching

    /// The server's version overwrites fields that wait to be sent.
    case overwritesEdits
    /// Rows are merged without the version that both edits started from.
    case mergesWithoutBase
    /// Where a row has edits, the other fields do not follow the server.
    case discardsRemoteFields
    /// Changes of records that were just saved here are passed over.
    case ignoresSaved
    /// Fields that the server cleared stay set.
    case ignoresClearedFields
    /// A remote edit of a row clears its assets.
    case clearsAssets
    /// Deletions from the server pass over rows that have edits, and the record is forgotten.
    case forgetsEditedRows
    /// Deletions from the server are not applied.
    case ignoresDeletions
    /// After a fetch from the beginning nobody looks for what was deleted meanwhile.
    case skipsSweep
    /// The engine's state is kept, some records of its fetch are not.
    case keepsTokenOnly
    /// A row whose parent has not come stops the fetch.
    case failsOnMissingParents
    /// A record of an unknown type stops the fetch.
    case failsOnUnknownTypes
    /// Fields that no column holds are forgotten.
    case dropsUnknownFields
    /// Records of unknown types are forgotten.
    case dropsUnknownTypes

    // MARK: Unique values

    /// Of two rows with one UNIQUE value the one that is here stays, whichever was first.
    case staysByArrival
    /// What refers to a row that gave way does not refer to the winner.
    case leavesReferences
    /// A row that gave way is not in the journal.
    case forgetsDisplaced

    // MARK: Sharing

    /// Permissions that change are not followed.
    case ignoresPermissions
    /// An edit that the user may not make is taken back without a trace.
    case forgetsRefused
    /// The rows of a share that ended stay.
    case keepsLostRows
    /// Rows that come into a shared tree with the row above them are not linked to it.
    case leavesUnlinked
}
