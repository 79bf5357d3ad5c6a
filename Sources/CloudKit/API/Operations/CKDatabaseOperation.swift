import Foundation

/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because the database is set before the operation starts.

    private var chosenDatabase: CKDatabase?

    /// The database; nil stands for the private one of the configuration's container.
    open var database: CKDatabase? {
        get { chosenDatabase }
        set {
            chosenDatabase = newValue
            if let container = newValue?.container { settings.container = container }
        }
    }

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// The database's requests, with the operation's settings.
    var requests: DatabaseRequests {
        let settings = effectiveSettings
        let database =
            chosenDatabase ?? (settings.container ?? CKContainer.default()).privateCloudDatabase
        var requests = database.baseRequests.begun(under: signIn)
        requests.settings = settings.filled(from: database.settings).requests
        return requests
    }

    override var connection: CloudConnection {
        chosenDatabase?.baseRequests.connection ?? super.connection
    }
}
