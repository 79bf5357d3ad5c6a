/// Tells that something in a database has changed.
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The database.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
