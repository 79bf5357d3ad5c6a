public import CloudKit
import CloudKitExtras
import CloudKitServer
public import CloudKitServerCore
public import CloudKitTesting
public import CloudKitWebClient
import Logging

/// The connections of a test's devices to their cloud; a test that takes one runs over each.
public enum CloudFixture: String, CaseIterable, Sendable {
    /// Directly into the service.
    case inProcess
    /// Through a real server on the loopback interface.
    case overHTTP

    /// Runs a test against its own empty cloud.
    ///
    /// - Parameters:
    ///   - configuration: The limits of the service, for tests about them.
    ///   - body: The test.
    public func run(
        configuration: ServiceConfiguration = ServiceConfiguration(),
        _ body: @Sendable (Cloud) async throws -> Void
    ) async throws {
        try await run(TestCloud.ofRun(configuration: configuration), body)
    }

    /// Runs a test against a cloud.
    public func run(
        _ cloud: TestCloud,
        _ body: @Sendable (Cloud) async throws -> Void
    ) async throws {
        switch self {
        case .inProcess: try await body(Cloud(cloud: cloud, url: nil))
        case .overHTTP:
            let silence = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let server = CloudServer(serving: cloud.service, logger: silence)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run() }
                try await body(Cloud(cloud: cloud, url: try await server.url()))
                group.cancelAll()
            }
        }
    }
}

/// A cloud for tests: users and their devices, however they are connected.
public struct Cloud: Sendable {
    let cloud: TestCloud
    let url: String?

    /// Creates a user.
    public func addUser(_ name: String = "Ada") async throws -> TestCloud.User {
        try await cloud.addUser(name)
    }

    /// Injects faults according to a plan; nil ends this.
    public func setFaults(_ plan: FaultPlan?) { cloud.setFaults(plan) }

    /// The state of the plan's rules so far.
    public var faultCounts: [FaultCount] { cloud.faultCounts }

    /// Creates another device of a user.
    public func device(
        of user: TestCloud.User?,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws -> CKContainer {
        CKContainer(client: try await client(of: user, transport: transport))
    }

    /// Creates the web client of another device of a user.
    public func client(
        of user: TestCloud.User?,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws -> WebClient {
        let client = try await cloud.client(of: user) { transport($0) }
        guard let url else { return client }
        return WebClient(
            url: url,
            container: client.container,
            environment: client.environment,
            credentials: client.credentials,
            transport: transport(HTTPTransport())
        )
    }

    /// Creates the private database of another device of a user.
    public func database(
        of user: TestCloud.User?,
        transport: (any Transport) -> any Transport = { $0 }
    ) async throws -> CKDatabase {
        try await device(of: user, transport: transport).privateCloudDatabase
    }
}
