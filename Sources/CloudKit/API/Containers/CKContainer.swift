import CloudKitWebClient
public import Foundation
import Synchronization

/// An app's part of CloudKit: the databases, the user and the account.
///
/// Where it connects comes from the environment (`CLOUDKIT_URL`, `CLOUDKIT_CONTAINER`,
/// `CLOUDKIT_ENVIRONMENT`, `CLOUDKIT_API_TOKEN`, `CLOUDKIT_WEB_AUTH_TOKEN`,
/// `CLOUDKIT_WEB_AUTH_TOKEN_FILE`, `CLOUDKIT_KEY_ID`, `CLOUDKIT_PRIVATE_KEY_FILE`) or from code, with
/// `CloudKitExtras`. When nothing says it, the first request fails with `CKError.badContainer`, and
/// the message says what to set.
open class CKContainer: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant or guarded by a lock.

    /// The container's identifier, such as `iCloud.com.example.app`.
    public var containerIdentifier: String? { identifier }

    /// One for each user.
    public var privateCloudDatabase: CKDatabase { databases.private }

    /// One for all users.
    public var publicCloudDatabase: CKDatabase { databases.public }

    /// What others share with the user.
    public var sharedCloudDatabase: CKDatabase { databases.shared }

    private let identifier: String?

    /// Made at the first use, when the container exists that they belong to.
    private let made = Mutex<Databases?>(nil)

    /// How the container reaches its service.
    package let connection: CloudConnection

    /// What operations and convenience methods of this container do unless told otherwise.
    let settings: OperationSettings

    private static let processDefault = CKContainer(
        identifier: ProcessInfo.processInfo.environment[CloudConnection.Variable.container],
        connection: .environment(container: nil)
    )

    /// The container that the environment names.
    open class func `default`() -> CKContainer { processDefault }

    /// Makes a container, which reaches its service as the environment says.
    public convenience init(identifier containerIdentifier: String) {
        self.init(
            identifier: containerIdentifier,
            connection: .environment(container: containerIdentifier)
        )
    }

    /// Makes a container over a connection.
    package init(identifier: String?, connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
        settings = OperationSettings()
    }

    /// Makes the same container with other settings for what is asked of it.
    init(_ other: CKContainer, settings: OperationSettings) {
        identifier = other.identifier
        connection = other.connection
        self.settings = settings
    }

    private var databases: Databases {
        made.withLock { made in
            if let made { return made }
            let databases = Databases(
                private: database(.private),
                public: database(.public),
                shared: database(.shared)
            )
            made = databases
            return databases
        }
    }

    private func database(_ scope: CKDatabase.Scope) -> CKDatabase {
        CKDatabase(scope: scope, connection: connection, container: self, settings: settings)
    }

    /// The database of a scope.
    open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        switch databaseScope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }

    /// Runs an operation.
    open func add(_ operation: CKOperation) {
        if operation.settings.container == nil { operation.settings.container = self }
        connection.operations.addOperation(operation)
    }

    private struct Databases {
        let `private`: CKDatabase
        let `public`: CKDatabase
        let shared: CKDatabase
    }
}
