public import CloudKit

/// What happens to a store, for apps that want to know or to show it.
public enum StoreEvent: Sendable {
    /// A fetch or a send has begun.
    case started
    /// A sync that the app asked for is done.
    case finished(SyncSummary)
    /// A sync that the app asked for failed.
    case failed(CKError)
    /// A user signed in, the one whose rows these are or the first one.
    case signedIn
    /// The user signed out. The rows stay, and nothing is sent.
    case signedOut
    /// Another user signed in. The rows stay, and nothing is sent.
    case switchedAccounts
    /// The zone is gone from the server.
    case zoneLost(CKDatabase.DatabaseChange.Deletion.Reason)
    /// Another user's zone is out of reach: the share ended, or the user left it. The rows are gone,
    /// and edits of them that were not sent are in the journal.
    case shareEnded(CKRecordZone.ID)
    /// The server refused an edit for want of permission. It is in the journal, and the row is as
    /// the server has it.
    case takenBack(table: String, key: String)
    /// A row was deleted here and on the server because another has its values in UNIQUE columns. It is
    /// in the journal under the rule `unique`.
    case gaveWay(table: String, key: String)
    /// The file is a new one, such as after `eraseDatabaseOnSchemaChange`, and the one before it had
    /// these rows with changes that were not sent; told when the store starts.
    case erased(unsent: [RowChange])
    /// The user's storage is full. The changes stay, and are tried again with the next sync.
    case quotaExceeded
    /// What the store kept of its place in the server's history could not be read, for this reason.
    /// Everything is fetched again; rows that wait to be sent are not touched.
    case startedAfresh(reason: String)
    /// A row or record was set aside.
    case setAside(reason: String)
    /// Something in the file will make devices differ, with the remedy; told when the store starts.
    case warning(String)
}
