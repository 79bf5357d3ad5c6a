import CloudKitWebClient
public import Foundation
import Synchronization

/// Makes containers; there for `Self(identifier:)` in extensions of `CKContainer`.
///
/// A class's own initialiser would have to be `required`, and subclasses outside this module could
/// not provide it.
public protocol _CKContainerMaking {}

extension _CKContainerMaking where Self: CKContainer {
    /// Makes a container, which reaches its service as the environment says.
    ///
    /// - Important: On a subclass, which cannot be made, it ends the process.
    public init(identifier containerIdentifier: String) {
        let made = CKContainer(
            identifier: containerIdentifier,
            connection: .environment(container: containerIdentifier)
        )
        guard let container = made as? Self else {
            preconditionFailure("CKContainer: a subclass cannot be made")
        }
        self = container
    }
}

/// An app's part of CloudKit: the databases, the user and the account.
///
/// Where it connects comes from the environment (`CLOUDKIT_URL`, `CLOUDKIT_CONTAINER`,
/// `CLOUDKIT_ENVIRONMENT`, `CLOUDKIT_API_TOKEN`, `CLOUDKIT_WEB_AUTH_TOKEN`,
/// `CLOUDKIT_WEB_AUTH_TOKEN_FILE`, `CLOUDKIT_KEY_ID`, `CLOUDKIT_PRIVATE_KEY_FILE`) or from code, with
/// `CloudKitExtras`. When nothing says it, the first request fails with `CKError.badContainer`, and
/// the message says what to set.
///
/// Methods that are Objective-C's on Apple platforms stand in the class, where subclasses can override
/// them; those that Apple's framework adds for Swift stand in extensions.
open class CKContainer: NSObject, _CKContainerMaking, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant or guarded by a lock.

    /// The container's identifier, such as `iCloud.com.example.app`.
    open var containerIdentifier: String? { identifier }

    /// One for each user.
    open var privateCloudDatabase: CKDatabase { databases.private }

    /// One for all users.
    open var publicCloudDatabase: CKDatabase { databases.public }

    /// What others share with the user.
    open var sharedCloudDatabase: CKDatabase { databases.shared }

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
        operation.begin()
        connection.operations.addOperation(operation)
    }

    // MARK: The account

    /// Says whether the user's own data can be reached.
    open func accountStatus() async throws -> CKAccountStatus {
        try await connection.accountStatus()
    }

    /// Says whether the user's own data can be reached.
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

    /// The identity of the signed-in user's record.
    ///
    /// - Throws: `CKError.notAuthenticated` when no user is signed in.
    open func userRecordID() async throws -> CKRecord.ID {
        try await publicCloudDatabase.requests.userRecordID()
    }

    /// The identity of the signed-in user's record.
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

    /// Says what a link to a share stands for.
    ///
    /// - Throws: `CKError.unknownItem` for a link that leads nowhere.
    open func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await requests.metadata(for: [url]).single(url)
    }

    /// Says what a link to a share stands for.
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

    /// Finds someone to invite, by e-mail address; the address need not have an account yet.
    open func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(emailAddress: emailAddress))
    }

    /// Finds someone to invite, by e-mail address.
    @preconcurrency
    open func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participant(.init(emailAddress: emailAddress))
        }
    }

    /// Finds someone to invite, by telephone number; the number need not have an account yet.
    open func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(phoneNumber: phoneNumber))
    }

    /// Finds someone to invite, by telephone number.
    @preconcurrency
    open func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.participant(.init(phoneNumber: phoneNumber))
        }
    }

    /// Finds someone to invite, by user record.
    ///
    /// - Throws: `CKError.unknownItem` when there is no such user.
    open func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        try await requests.participant(.init(userRecordID: userRecordID))
    }

    /// Finds someone to invite, by user record.
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

    /// Finds someone by e-mail address; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(emailAddress: email))
    }

    /// Finds someone by e-mail address; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withEmailAddress email: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(emailAddress: email), completionHandler)
    }

    /// Finds someone by telephone number; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await requests.identity(.init(phoneNumber: phoneNumber))
    }

    /// Finds someone by telephone number; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(phoneNumber: phoneNumber), completionHandler)
    }

    /// Finds someone by user record; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    open func userIdentity(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKUserIdentity? {
        try await requests.identity(.init(userRecordID: userRecordID))
    }

    /// Finds someone by user record; nil for someone who cannot be found.
    @available(*, deprecated, message: "Look participants up instead")
    @preconcurrency
    open func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(.init(userRecordID: userRecordID), completionHandler)
    }

    /// Finds people of the address book.
    ///
    /// - Important: There is no address book here: nobody is found.
    @available(*, deprecated, message: "There is no replacement")
    open func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    /// Finds people of the address book.
    ///
    /// - Important: There is no address book here: nobody is found.
    @available(*, deprecated, message: "There is no replacement")
    @preconcurrency
    open func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in [] }
    }

    // MARK: Permissions, deprecated

    /// Says what the user said to a permission.
    ///
    /// - Important: The service decides by itself who can be found, when the user signs in on its
    ///   page; the status is always `.couldNotComplete` here.
    @available(*, deprecated, message: "There is no replacement")
    open func applicationPermissionStatus(
        for applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        .couldNotComplete
    }

    /// Says what the user said to a permission.
    @available(*, deprecated, message: "There is no replacement")
    @preconcurrency
    open func status(
        forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
        completionHandler:
            @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        couldNotComplete(completionHandler)
    }

    /// Asks the user for a permission.
    ///
    /// - Important: The service decides by itself who can be found, when the user signs in on its
    ///   page; the status is always `.couldNotComplete` here.
    @available(*, deprecated, message: "There is no replacement")
    open func requestApplicationPermission(
        _ applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        .couldNotComplete
    }

    /// Asks the user for a permission.
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
