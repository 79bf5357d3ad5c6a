import CloudKitServer
import HTTPFixtures
import Logging
import ServerFixtures
import Testing

@Suite("The table of requests and responses, over HTTP")
struct HTTPConformanceTests {
    static let areas = (try? ConformanceTable().areas) ?? []

    @Test("Every documented request gets its documented response over HTTP", arguments: areas)
    func rows(area: ConformanceArea) async throws {
        let mismatches = try await ConformanceRun.play(area) { service, use in
            let server = CloudServer(
                serving: service,
                configuration: .init(service: area.configuration),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                let found = try await use(HTTPConnection(url: try await server.url()))
                group.cancelAll()
                while (try? await group.next()) != nil {}
                return found
            }
        }
        for mismatch in mismatches { Issue.record("\(mismatch)") }
    }
}
