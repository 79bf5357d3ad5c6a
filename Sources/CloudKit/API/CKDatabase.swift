public import Foundation

/// One of a container's databases: records in zones.
open class CKDatabase: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// Which of a container's databases this is.
    @nonexhaustive
    public enum Scope: Int, Sendable {
        /// One for all users.
        case `public` = 1
        /// One for each user.
        case `private` = 2
        /// What others share with the user.
        case shared = 3
    }

    /// Which of the container's databases this is.
    public let databaseScope: CKDatabase.Scope

    let requests: DatabaseRequests

    init(scope: CKDatabase.Scope, connection: CloudConnection) {
        databaseScope = scope
        requests = DatabaseRequests(connection: connection, scope: scope)
    }
}
