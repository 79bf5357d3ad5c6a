import CloudKitWebClient
public import Foundation
import Synchronization

/// Creates containers, which lets extensions of `CKContainer` call `Self(identifier:)`.
///
/// An initialiser of the class itself would have to be `required`, and subclasses outside this
/// module could not provide it.
public protocol _CKContainerMaking {}

extension _CKContainerMaking where Self: CKContainer {
    /// Creates a container that connects to its service as the environment variables specify.
    ///
    /// - Important: Called on a subclass, which CloudKit cannot create, it ends the process.
    public init(identifier containerIdentifier: String) {
        let made = CKContainer(
            identifier: containerIdentifier,
            connection: .environment(container: containerIdentifier)
        )
        guard let container = made as? Self else {
            preconditionFailure("CKContainer: a subclass cannot be created")
        }
        self = container
    }
}

/// An app's part of CloudKit: its databases, its users and their account status.
///
/// ```swift
/// let container = CKContainer(identifier: "iCloud.com.example.notes")
/// guard try await container.accountStatus() == .available else { return }
/// let user = try await container.userRecordID()
/// let notes = container.privateCloudDatabase
/// ```
///
/// The environment configures the connection (`CLOUDKIT_URL`, `CLOUDKIT_CONTAINER`,
/// `CLOUDKIT_ENVIRONMENT`, `CLOUDKIT_API_TOKEN`, `CLOUDKIT_WEB_AUTH_TOKEN`,
/// `CLOUDKIT_WEB_AUTH_TOKEN_FILE`, `CLOUDKIT_KEY_ID`, `CLOUDKIT_PRIVATE_KEY_FILE`), or code does,
/// with `CloudKitExtras`. Without either, the first request fails with `CKError.badContainer`,
/// whose message lists what to set.
///
/// Methods that belong to Objective-C on Apple platforms are declared in the class, where
/// subclasses can override them; methods that Apple's framework adds for Swift are declared in
/// extensions.
open class CKContainer: NSObject, _CKContainerMaking, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant or guarded by a lock.

    /// The container's identifier, such as `iCloud.com.example.app`.
    open var containerIdentifier: String? { identifier }

    /// The private database, one for each user.
    open var privateCloudDatabase: CKDatabase { databases.private }

    /// The public database, one for all users.
    open var publicCloudDatabase: CKDatabase { databases.public }

    /// The shared database, with the zones and records that others share with the user.
    open var sharedCloudDatabase: CKDatabase { databases.shared }

    private let identifier: String?

    /// The databases, created on first use, because they refer to the container.
    private let made = Mutex<Databases?>(nil)

    /// The connection to the container's service.
    package let connection: CloudConnection

    /// The default settings of this container's operations and convenience methods.
    let settings: OperationSettings

    private static let processDefault = CKContainer(
        identifier: ProcessInfo.processInfo.environment[CloudConnection.Variable.container],
        connection: .environment(container: nil)
    )

    /// Returns the container that the environment names.
    open class func `default`() -> CKContainer { processDefault }

    /// Creates a container on a connection.
    package init(identifier: String?, connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
        settings = OperationSettings()
    }

    /// Creates a copy of a container with other settings for its requests.
    init(_ other: CKContainer, settings: OperationSettings) {
        identifier = other.identifier
        connection = other.connection
        self.settings = settings
    }

    private struct Databases {
        let `private`: CKDatabase
        let `public`: CKDatabase
        let shared: CKDatabase
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

    /// Returns the database of a scope.
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
        operation.begin()
        connection.operations.addOperation(operation)
    }

    // MARK: The account

    /// Returns the account status: whether the user's private and shared data can be reached.
    open func accountStatus() async throws -> CKAccountStatus {
        try await connection.accountStatus()
    }

    /// Fetches the account status: whether the user's private and shared data can be reached.
    @preconcurrency
    open func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        complete { (result: Result<CKAccountStatus, any Error>) in
            switch result {
            case .success(let status): completionHandler(status, nil)
            case .failure(let error): completionHandler(.couldNotDetermine, error)
            }
        } with: { [connection] () async throws(CKError) in
            try await connection.accountStatus()
        }
    }

    /// Returns the ID of the signed-in user's record.
    ///
    /// - Throws: `CKError.notAuthenticated` when no user is signed in.
    open func userRecordID() async throws -> CKRecord.ID {
        try await publicCloudDatabase.requests.userRecordID()
    }

    /// Fetches the ID of the signed-in user's record.
    @preconcurrency
    open func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        complete(completionHandler) {
            [requests = publicCloudDatabase.requests] () async throws(CKError) in
            try await requests.userRecordID()
        }
    }

    // MARK: Links to shares

    /// Fetches the metadata of the share that a link leads to.
    ///
    /// - Throws: `CKError.unknownItem` for a link that leads to no share.
    open func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await requests.metadata(for: [url]).single(url)
    }

    /// Fetches the metadata of the share that a link leads to.
    @preconcurrency
    open func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.metadata(for: [url]).single(url)
        }
    }

    /// Accepts an invitation; the share's zone then appears in the shared database.
    @discardableResult
    open func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await requests.accept([metadata]).single(metadata)
    }

    /// Accepts an invitation; the share's zone then appears in the shared database.
    @preconcurrency
    open func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.accept([metadata]).single(metadata)
        }
    }

    // MARK: One participant

    /// Looks up a person to invite, by email address; the address need not have an account yet.
    open func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(emailAddress: emailAddress))
    }

    /// Looks up a person to invite, by email address.
    @preconcurrency
    open func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participant(.init(emailAddress: emailAddress))
        }
    }

    /// Looks up a person to invite, by phone number; the number need not have an account yet.
    open func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(phoneNumber: phoneNumber))
    }

    /// Looks up a person to invite, by phone number.
    @preconcurrency
    open func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participant(.init(phoneNumber: phoneNumber))
        }
    }

    /// Looks up a person to invite, by user record.
    ///
    /// - Throws: `CKError.unknownItem` when there is no such user.
    open func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(userRecordID: userRecordID))
    }

    /// Looks up a person to invite, by user record.
    @preconcurrency
    open func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participant(.init(userRecordID: userRecordID))
        }
    }

    // MARK: People, deprecated

    /// Looks up a user by email address; returns nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(emailAddress: email))
    }

    /// Looks up a user by email address; reports nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withEmailAddress email: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(emailAddress: email), completionHandler)
    }

    /// Looks up a user by phone number; returns nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(phoneNumber: phoneNumber))
    }

    /// Looks up a user by phone number; reports nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(phoneNumber: phoneNumber), completionHandler)
    }

    /// Looks up a user by user record; returns nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKUserIdentity? {
        try await requests.identity(.init(userRecordID: userRecordID))
    }

    /// Looks up a user by user record; reports nil for an unknown one.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(userRecordID: userRecordID), completionHandler)
    }

    /// Looks up the users among the contacts in the address book.
    ///
    /// - Important: There is no address book on this platform: the result is empty.
    @available(*, deprecated, message: "There is no replacement")
    open func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    /// Looks up the users among the contacts in the address book.
    ///
    /// - Important: There is no address book on this platform: the result is empty.
    @available(*, deprecated, message: "There is no replacement")
    @preconcurrency
    open func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in [] }
    }

    // MARK: Permissions, deprecated

    /// Returns the status of a permission.
    ///
    /// - Important: The service itself settles who can be discovered, when the user signs in on its
    ///   page; the status is always `.couldNotComplete` here.
    @available(*, deprecated, message: "There is no replacement")
    open func applicationPermissionStatus(
        for applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        .couldNotComplete
    }

    /// Fetches the status of a permission.
    @available(*, deprecated, message: "There is no replacement")
    @preconcurrency
    open func status(
        forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
        completionHandler:
            @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        couldNotComplete(completionHandler)
    }

    /// Requests a permission from the user.
    ///
    /// - Important: The service itself settles who can be discovered, when the user signs in on its
    ///   page; the status is always `.couldNotComplete` here.
    @available(*, deprecated, message: "There is no replacement")
    open func requestApplicationPermission(
        _ applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        .couldNotComplete
    }

    /// Requests a permission from the user.
    @available(*, deprecated, message: "There is no replacement")
    @preconcurrency
    open func requestApplicationPermission(
        _ applicationPermission: CKContainer.ApplicationPermissions,
        completionHandler:
            @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        couldNotComplete(completionHandler)
    }
}

extension CKContainer {
    private func discover(
        _ info: CKUserIdentity.LookupInfo,
        _ completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        complete({ (result: Result<CKUserIdentity?, any Error>) in
            completionHandler(result.value ?? nil, result.error)
        }) { [requests] () async throws(CKError) in try await requests.identity(info) }
    }

    private func couldNotComplete(
        _ handler: @escaping @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        complete({ (result: Result<ApplicationPermissionStatus, any Error>) in
            handler(result.value ?? .couldNotComplete, result.error)
        }) { () async throws(CKError) in .couldNotComplete }
    }
}
