import CloudKitServer
import CloudKitServerCore
import Logging
import ServerFixtures
import Synchronization
public import Testing

/// Starts a server for each cloud that a test creates, so that every request passes over a loopback
/// connection and through all layers in front of the service.
public struct OverHTTP: TestTrait, SuiteTrait, TestScoping {
    public let isRecursive = true

    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let servers = Servers()
        defer { servers.stop() }
        try await FixtureCloud.$opening.withValue({ try await servers.serve($0) }) {
            try await function()
        }
    }

    /// The servers of one test.
    private final class Servers: Sendable {
        private let tasks = Mutex<[Task<Void, any Error>]>([])

        /// Starts a server and returns the connection to it.
        func serve(_ service: CloudService) async throws -> any ConformanceConnection {
            let server = CloudServer(
                serving: service,
                // The addresses of assets are those of a cloud without a server.
                configuration: .init(publicURL: "http://cloud.test"),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            let task = Task { try await server.run() }
            tasks.withLock { $0.append(task) }
            return HTTPConnection(url: try await server.url())
        }

        func stop() {
            for task in tasks.withLock({ $0 }) { task.cancel() }
        }
    }
}

extension Trait where Self == OverHTTP {
    /// Runs a test's requests over HTTP.
    public static var overHTTP: Self { Self() }
}
