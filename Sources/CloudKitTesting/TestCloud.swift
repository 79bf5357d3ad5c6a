public import CloudKit
import CloudKitExtras
public import CloudKitServerCore
import CloudKitServerSQLite
public import CloudKitWebClient
import CloudKitWire
import Foundation

/// A whole CloudKit in the test's own process: the server's rules and storage, without sockets.
///
/// ```swift
/// let cloud = try await TestCloud()
/// let ada = try await cloud.addUser("Ada")
/// let phone = try await cloud.device(of: ada)
/// let laptop = try await cloud.device(of: ada)
/// try await phone.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
/// #expect(try await laptop.privateCloudDatabase.allRecordZones().count == 2)
/// ```
///
/// Every cloud is empty and knows nothing of others; what it holds goes with it.
public struct TestCloud: Sendable {
    /// A user of the cloud.
    public struct User: Hashable, Sendable {
        let user: ServiceUser

        /// The name of the user's record.
        public var recordName: String { user.userRecordName }
    }

    /// The container that the cloud serves.
    public let containerIdentifier: String

    /// The service itself.
    package let service: CloudService

    /// The cloud's time: the machine's, until a test moves it forward.
    public let clock: VirtualClock

    private let apiToken: String

    /// Makes an empty cloud.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container that the cloud serves.
    ///   - opensContainers: Whether any other container can be used too; each is empty at first.
    ///   - clock: The cloud's time; one that goes with the machine's unless given.
    ///   - faults: What goes wrong from the start.
    ///   - configuration: The service's limits, such as a user's quota and the rate of requests.
    /// - Throws: When the cloud's storage fails.
    public init(
        containerIdentifier: String = "iCloud.test",
        opensContainers: Bool = false,
        clock: VirtualClock? = nil,
        faults: FaultPlan? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws {
        try await self.init(
            containerIdentifier: containerIdentifier,
            opensContainers: opensContainers,
            clock: clock,
            faults: faults,
            configuration: configuration,
            randomness: SystemRandomness()
        )
    }

    /// Makes an empty cloud whose keys and tokens come from a given source, for runs that are to be
    /// alike twice.
    package init(
        containerIdentifier: String = "iCloud.test",
        opensContainers: Bool = false,
        clock: VirtualClock? = nil,
        faults: FaultPlan? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        randomness: any ServiceRandomness
    ) async throws {
        self.containerIdentifier = containerIdentifier
        let clock = clock ?? VirtualClock(following: SystemClock())
        self.clock = clock
        var configuration = configuration
        if opensContainers { configuration.opensContainers = true }
        service = CloudService(
            storage: try SQLiteStorage(path: nil),
            assets: try FileAssetStorage.temporary(),
            configuration: configuration,
            clock: clock,
            randomness: randomness
        )
        service.setFaults(faults)
        apiToken = try await service.addAPIToken(
            container: containerIdentifier,
            environment: .development
        )
    }

    /// Makes a user.
    public func addUser(_ name: String = "Ada") async throws -> User {
        User(user: try await service.addUser(container: containerIdentifier, name: name))
    }

    /// Makes the container as one device of a user sees it; nil for nobody signed in.
    ///
    /// Each call makes another device: devices share nothing but the cloud.
    ///
    /// - Parameters:
    ///   - user: Whose device it is.
    ///   - container: The container, where it is another than the cloud's own; see `opensContainers`.
    ///   - transport: Wraps the way into the cloud, to count, delay or break what goes over it.
    /// - Returns: The device's container.
    /// - Throws: When the cloud's storage fails.
    public func device(
        of user: User?,
        container: String? = nil,
        transport: (InProcessTransport) -> any Transport = { $0 }
    ) async throws -> CKContainer {
        CKContainer(
            client: try await client(of: user, container: container, transport: transport)
        )
    }

    /// Makes the web client of a device, for tests below Apple's API.
    ///
    /// - Parameters:
    ///   - user: Whose device it is.
    ///   - container: The container, where it is another than the cloud's own; see `opensContainers`.
    ///   - transport: Wraps the way into the cloud, to count, delay or break what goes over it.
    /// - Returns: The device's client.
    /// - Throws: When the cloud's storage fails.
    public func client(
        of user: User?,
        container: String? = nil,
        transport: (InProcessTransport) -> any Transport = { $0 }
    ) async throws -> WebClient {
        var webAuthToken: String?
        if let user {
            webAuthToken = try await service.addWebAuthToken(
                user: user.user,
                apiToken: apiToken,
                environment: .development
            )
        }
        return WebClient(
            url: InProcessTransport.url,
            container: container ?? containerIdentifier,
            environment: .development,
            credentials: WebCredentials(apiToken: apiToken, webAuthToken: webAuthToken),
            transport: transport(InProcessTransport(service: service))
        )
    }
}
