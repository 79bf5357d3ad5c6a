/// A notification about changes in a database.
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The scope of the database.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
