import CloudKitWebClient
public import Foundation

/// An app's part of CloudKit: the databases, the user and the account.
///
/// Where it connects comes from the environment (`CLOUDKIT_URL`, `CLOUDKIT_CONTAINER`,
/// `CLOUDKIT_ENVIRONMENT`, `CLOUDKIT_API_TOKEN`, `CLOUDKIT_WEB_AUTH_TOKEN`) or from code, with
/// `CloudKitExtras`. When nothing says it, the first request fails with `CKError.badContainer`, and
/// the message says what to set.
open class CKContainer: NSObject, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The container's identifier, such as `iCloud.com.example.app`.
    public let containerIdentifier: String?

    /// One for each user.
    public let privateCloudDatabase: CKDatabase

    /// One for all users.
    public let publicCloudDatabase: CKDatabase

    /// What others share with the user.
    public let sharedCloudDatabase: CKDatabase

    /// How the container reaches its service.
    package let connection: CloudConnection

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
        containerIdentifier = identifier
        self.connection = connection
        privateCloudDatabase = CKDatabase(scope: .private, connection: connection)
        publicCloudDatabase = CKDatabase(scope: .public, connection: connection)
        sharedCloudDatabase = CKDatabase(scope: .shared, connection: connection)
    }

    /// The database of a scope.
    open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        switch databaseScope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }
}
