import AsyncHTTPClient
import CloudKitServer
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import ServerFixtures
import Testing

@Suite("The table of requests and answers, over HTTP")
struct HTTPConformanceTests {
    static let areas = (try? ConformanceTable().areas) ?? []

    @Test("Every row is answered over HTTP as it says", arguments: areas)
    func rows(area: ConformanceArea) async throws {
        let mismatches = try await ConformanceRun.play(area) { service, use in
            let server = CloudServer(
                serving: service,
                configuration: .init(service: area.configuration),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                let found = try await use(HTTPDoor(url: try await server.url()))
                group.cancelAll()
                while (try? await group.next()) != nil {}
                return found
            }
        }
        for mismatch in mismatches { Issue.record("\(mismatch)") }
    }
}

/// A way to a service through its HTTP face.
private struct HTTPDoor: ConformanceDoor {
    let url: String

    func send(_ request: ConformanceRequest) async throws -> TestCloud.Answer {
        var message = HTTPClientRequest(url: url + request.target)
        message.method = .RAW(value: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await HTTPClient.shared.execute(message, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 100 << 20)
        let status = Int(response.status.code)
        if response.headers.first(name: "Content-Type") == "application/octet-stream" {
            return TestCloud.Answer(status: status, bytes: Data(bytes.readableBytesView))
        }
        var answer = TestCloud.Answer(status: status, bytes: Data())
        answer.body = bytes.readableBytes == 0 ? .null : try JSON(Data(bytes.readableBytesView))
        return answer
    }
}
