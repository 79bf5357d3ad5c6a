public import CloudKit

/// An event of a store, for apps that report or show sync.
///
/// ```swift
/// configuration.onEvent = { event in
///     switch event {
///     case .replacedByDuplicate(let table, let key): print("\(table) \(key) is there already")
///     case .quotaExceeded: print("The user's iCloud storage is full")
///     default: break
///     }
/// }
/// ```
public enum StoreEvent: Sendable {
    /// A fetch or a send has begun.
    case started
    /// A sync that the app requested has finished.
    case finished(SyncSummary)
    /// A sync that the app requested failed.
    case failed(CKError)
    /// A user signed in: the owner of the rows, or the first user.
    case signedIn
    /// The user signed out. The rows stay, and nothing is sent.
    case signedOut
    /// Another user signed in. The rows stay, and nothing is sent.
    case switchedAccounts
    /// The zone no longer exists on the server.
    case zoneDeleted(CKDatabase.DatabaseChange.Deletion.Reason)
    /// Another user's zone is no longer accessible: the share ended, or the user left it. The rows
    /// were deleted, and their unsent edits are in the journal.
    case shareEnded(CKRecordZone.ID)
    /// An edit of another user's row was not sent, or was refused: the user may not make it, the row
    /// went out of sight, or it gave up its key. The edit is in the journal under the rule `access`; a
    /// row that stays has the server's values.
    case editsRefused(table: String, key: String)
    /// A row was deleted here and on the server because another row has its values in UNIQUE
    /// columns. It is in the journal under the rule `unique`.
    case replacedByDuplicate(table: String, key: String)
    /// The file is new, for example after `eraseDatabaseOnSchemaChange`, and these rows of the
    /// previous one had unsent changes; reported when the store starts.
    case erased(unsent: [RowChange])
    /// The user's storage is full. The changes stay, and the next sync sends them again.
    case quotaExceeded
    /// The store could not read its position in the server's history, or has to read records again that an earlier
    /// version of the app read in another way, for this reason. Everything is fetched again; unsent rows are not
    /// touched.
    case refetchStarted(reason: String)
    /// A row or record was quarantined.
    case quarantined(reason: String)
    /// A condition in the file will make devices differ; the text has the remedy. Reported when the
    /// store starts.
    case warning(String)
}
