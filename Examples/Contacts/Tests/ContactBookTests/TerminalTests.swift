#if canImport(CloudKitTesting)
import CloudKitServer
import Foundation
import Testing

@Suite("Two terminals", .timeLimit(.minutes(5)))
struct TerminalTests {
    private static let container = "iCloud.com.example.contacts"

    /// Runs a test with a server, and what a program needs in its environment to reach it.
    private func withServer(
        _ body: @Sendable ([String: String]) async throws -> Void
    ) async throws {
        let server = try CloudServer()
        let apiToken = try await server.service.addAPIToken(
            container: Self.container,
            environment: .development
        )
        let user = try await server.service.addUser(container: Self.container, name: "Ada")
        let webToken = try await server.service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            try await body([
                "CLOUDKIT_URL": try await server.url(),
                "CLOUDKIT_CONTAINER": Self.container,
                "CLOUDKIT_ENVIRONMENT": "development",
                "CLOUDKIT_API_TOKEN": apiToken,
                "CLOUDKIT_WEB_AUTH_TOKEN": webToken,
            ])
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    @Test("What is typed in one shows up in the other, in both directions")
    func sideBySide() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("terminals-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withServer { environment in
            let phone = try Terminal(
                file: folder.appendingPathComponent("phone.json"),
                environment: environment
            )
            let laptop = try Terminal(
                file: folder.appendingPathComponent("laptop.json"),
                environment: environment
            )
            try phone.type("add Ann 555-0100")
            #expect(await laptop.wait(for: "· Ann 555-0100"))
            try laptop.type("phone Ann 555-0199")
            #expect(await phone.wait(for: "· Ann 555-0199"))
            try phone.type("delete Ann")
            #expect(await laptop.wait(for: "· Ann was deleted on another device"))
            for terminal in [phone, laptop] { try terminal.type("quit") }
        }
    }
}
#endif
