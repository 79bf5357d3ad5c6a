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
    public var databaseScope: CKDatabase.Scope { requests.scope }

    let requests: DatabaseRequests

    /// What operations and convenience methods of this database do unless told otherwise.
    let settings: OperationSettings

    /// The container, which owns its databases.
    weak let container: CKContainer?

    init(
        scope: CKDatabase.Scope,
        connection: CloudConnection,
        container: CKContainer? = nil,
        settings: OperationSettings = OperationSettings()
    ) {
        self.container = container
        self.settings = settings
        var requests = DatabaseRequests(connection: connection, scope: scope)
        requests.settings = settings.requests
        self.requests = requests
    }

    /// Runs an operation on this database.
    open func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        requests.connection.operations.addOperation(operation)
    }
}
