#if canImport(CloudKitServer)
import CloudKitServer
import Foundation

/// A server with one user, and a folder for the files of the programs that use it.
public struct ExampleServer: Sendable {
    /// The environment variables with which a program reaches the server as the user.
    public let environment: [String: String]

    private let folder: URL

    /// Runs a test with a server, which stops when the test returns.
    public static func run(
        container: String,
        _ test: @Sendable (ExampleServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("terminals-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try CloudServer()
        let apiToken = try await server.service.addAPIToken(
            container: container,
            environment: .development
        )
        let user = try await server.service.addUser(container: container, name: "Ada")
        let webToken = try await server.service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            let environment = [
                "CLOUDKIT_URL": try await server.url(),
                "CLOUDKIT_CONTAINER": container,
                "CLOUDKIT_ENVIRONMENT": "development",
                "CLOUDKIT_API_TOKEN": apiToken,
                "CLOUDKIT_WEB_AUTH_TOKEN": webToken,
            ]
            try await test(ExampleServer(environment: environment, folder: folder))
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    /// Starts a program with its own file.
    public func open(_ program: String, file: String) throws -> Terminal {
        try Terminal(
            program: program,
            file: folder.appendingPathComponent(file),
            environment: environment
        )
    }
}
#endif
