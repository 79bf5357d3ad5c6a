import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Limits over HTTP, one below, at and one above", .timeLimit(.minutes(10)))
struct LimitTests {
    private func request(
        _ server: TestServer,
        _ more: [(name: String, value: String)] = [],
        body: String = "{}"
    ) throws -> RawRequest {
        let target = server.endpoint("zones/list").dropFirst(server.url.count)
        let host = try #require(URL(string: server.url)?.port)
        return RawRequest(
            target: String(target),
            headers: [
                ("Host", "127.0.0.1:\(host)"), ("Content-Length", "\(body.utf8.count)"),
                ("Connection", "close"),
            ] + more,
            body: body
        )
    }

    private func expect(
        _ request: RawRequest,
        on server: TestServer,
        isAnswered: Bool,
        _ what: String
    ) async throws {
        let status = try await request.status(from: server)
        if isAnswered {
            #expect(status == 200, "\(what)")
        } else {
            #expect(status.map { $0 >= 400 } ?? true, "\(what) was answered with \(status ?? 0)")
        }
    }

    @Test("100 header fields are read, 101 are not")
    func count() async throws {
        try await TestServer.run { server in
            for count in [99, 100, 101] {
                let base = try request(server)
                let more = (base.headers.count..<count).map { ("X-\($0)", "v") }
                let request = try request(server, more)
                #expect(request.headers.count == count)
                try await expect(request, on: server, isAnswered: count <= 100, "\(count) fields")
            }
        }
    }

    @Test("A header's value of 16 KiB is read, one more byte is not")
    func field() async throws {
        try await TestServer.run { server in
            for size in [16_383, 16_384, 16_385] {
                let value = String(repeating: "x", count: size)
                let request = try request(server, [("X-Long", value)])
                try await expect(request, on: server, isAnswered: size <= 16_384, "\(size) bytes")
            }
        }
    }

    @Test("Headers of 32 KiB with the target are read, one more byte is not")
    func total() async throws {
        try await TestServer.run { server in
            for size in [32_767, 32_768, 32_769] {
                var request = try request(
                    server,
                    (0..<3).map { ("X-\($0)", String(repeating: "x", count: 9000)) }
                )
                let rest = size - request.headerBytes - "X-3".utf8.count
                request.headers.append(("X-3", String(repeating: "x", count: rest)))
                #expect(request.headerBytes == size)
                try await expect(request, on: server, isAnswered: size <= 32_768, "\(size) bytes")
            }
        }
    }

    @Test("A body as large as allowed is read, one more byte is not")
    func body() async throws {
        var configuration = CloudServer.Configuration()
        configuration.service.requestBodyBytes = 1000
        try await TestServer.run(configuration) { server in
            for (size, status) in [(999, 200), (1000, 200), (1001, 400)] {
                let body = "{}" + String(repeating: " ", count: size - 2)
                let request = try request(server, body: body)
                #expect(try await request.status(from: server) == status, "\(size) bytes")
            }
        }
    }

    @Test("An asset as large as allowed is taken, one more byte is not")
    func asset() async throws {
        var configuration = CloudServer.Configuration()
        configuration.service.assetBytes = 1000
        try await TestServer.run(configuration) { server in
            for (size, status) in [(999, 200), (1000, 200), (1001, 400)] {
                let token: JSON = ["recordName": "n", "recordType": "Note", "fieldName": "f"]
                let places = try await server.call("assets/upload", ["tokens": [token]])
                let url = try #require(places.body.tokens[0].url.text)
                #expect(try await server.send(url, Data(count: size)).status == status)
            }
        }
    }
}
