public import CloudKit
import CloudKitExtras
public import CloudKitServerCore
import CloudKitServerSQLite
public import CloudKitWebClient
import CloudKitWire
import Foundation

/// A complete CloudKit in the test's own process: the server's rules and storage, without sockets.
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
/// Every cloud starts empty, is independent of others, and keeps its data in memory only.
public struct TestCloud: Sendable {
    /// A user of the cloud.
    public struct User: Hashable, Sendable {
        let user: ServiceUser

        /// The record name of the user's record.
        public var recordName: String { user.userRecordName }
    }

    /// The container that the cloud serves.
    public let containerIdentifier: String

    /// The service itself.
    package let service: CloudService

    /// The cloud's clock, which runs with the machine's until a test moves it forward.
    public let clock: VirtualClock

    private let apiToken: String

    /// Creates an empty cloud.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container that the cloud serves.
    ///   - opensContainers: A Boolean value that indicates whether any other container can be used
    ///     too; each is empty at first.
    ///   - clock: The cloud's clock; by default one that runs with the machine's.
    ///   - faults: The faults that are in effect from the start.
    ///   - configuration: The service's limits, such as a user's quota and the rate of requests.
    /// - Throws: An error when the cloud's storage fails.
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

    /// Creates an empty cloud whose keys and tokens come from a given source, for reproducible
    /// runs, and whose data is in a given storage, if it is not to be in memory.
    package init(
        containerIdentifier: String = "iCloud.test",
        opensContainers: Bool = false,
        clock: VirtualClock? = nil,
        faults: FaultPlan? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        randomness: any ServiceRandomness,
        storage: (any Storage)? = nil
    ) async throws {
        self.containerIdentifier = containerIdentifier
        let clock = clock ?? VirtualClock(following: SystemClock())
        self.clock = clock
        var configuration = configuration
        if opensContainers { configuration.opensContainers = true }
        service = CloudService(
            storage: try storage ?? SQLiteStorage(path: nil),
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

    /// Creates a user.
    public func addUser(_ name: String = "Ada") async throws -> User {
        User(user: try await service.addUser(container: containerIdentifier, name: name))
    }

    /// Creates a new device of a user, represented by its container; `nil` creates one that is
    /// signed out.
    ///
    /// Each call creates another device; devices share nothing except the cloud.
    ///
    /// - Parameters:
    ///   - user: The device's user.
    ///   - container: The container, if it is not the cloud's own; see `opensContainers`.
    ///   - transport: A closure that wraps the transport into the cloud, to count, delay or break
    ///     requests.
    /// - Returns: The device's container.
    /// - Throws: An error when the cloud's storage fails.
    public func device(
        of user: User?,
        container: String? = nil,
        transport: (InProcessTransport) -> any Transport = { $0 }
    ) async throws -> CKContainer {
        CKContainer(
            client: try await client(of: user, container: container, transport: transport)
        )
    }

    /// Creates the web client of a new device, for tests below Apple's API.
    ///
    /// - Parameters:
    ///   - user: The device's user.
    ///   - container: The container, if it is not the cloud's own; see `opensContainers`.
    ///   - transport: A closure that wraps the transport into the cloud, to count, delay or break
    ///     requests.
    /// - Returns: The device's client.
    /// - Throws: An error when the cloud's storage fails.
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
