import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServerFixtures
import Testing

@Suite("What stands in the way")
struct DefenceTests {
    @Test("A server listens on loopback unless instructed otherwise")
    func loopback() async throws {
        #expect(CloudServer.Configuration().host == "127.0.0.1")
        try await TestServer.run { server in
            #expect(server.url.hasPrefix("http://127.0.0.1:"))
        }
    }

    @Test("No token and no key identifier stands in the data, only what their hashes are")
    func secrets() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("DefenceTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = CloudServer.Configuration(directory: folder.path)
        configuration.administrationKey = "a key that only tests know"
        let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
        let server = try CloudServer(
            configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let keyID = try await server.service.addServerKey(
            publicKey: key,
            container: TestServer.container,
            environment: .development
        )
        let bytes = try await withThrowingTaskGroup(of: Void.self, returning: Data.self) { group in
            group.addTask { try await server.run() }
            let url = try await server.url()
            let apiToken = try await server.service.addAPIToken(
                container: TestServer.container,
                environment: .development
            )
            let user = try await server.service.addUser(
                container: TestServer.container,
                name: "Ada"
            )
            let token = try await server.service.addWebAuthToken(
                user: user,
                apiToken: apiToken,
                environment: .development
            )
            let client = TestServer(url: url, apiToken: apiToken, webToken: token)
            try await client.addZone("Notes")
            group.cancelAll()
            while (try? await group.next()) != nil {}
            var bytes = Data()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
            where name.hasPrefix("cloud.sqlite") {
                bytes += try Data(contentsOf: folder.appendingPathComponent(name))
            }
            #expect(bytes.range(of: Data("Notes".utf8)) != nil)
            for secret in [apiToken, token, configuration.administrationKey, keyID] {
                let secret = Data(try #require(secret).utf8)
                #expect(bytes.range(of: secret) == nil)
            }
            return bytes
        }
        #expect(!bytes.isEmpty)
    }

    @Test("Headers that are too many or too long end the request, and the server goes on")
    func headers() async throws {
        try await TestServer.run { server in
            let url = server.endpoint("zones/list")
            for headers in [
                (0..<200).map { ("X-Header-\($0)", "value") },
                [("X-Long", String(repeating: "x", count: 40_000))],
            ] {
                let status: Int? =
                    try? await server.send(url, headers: headers, Data("{}".utf8)).status
                #expect(status.map { $0 >= 400 } ?? true)
            }
            let after = try await server.call("zones/list", [:])
            #expect(after.status == 200)
        }
    }

    @Test("A response to HEAD is a head alone, so that no body is taken for the next response")
    func heads() async throws {
        try await TestServer.run { server in
            try await RawConnection.run(server) { connection in
                let page = "/sign-in?ckAPIToken=\(server.apiToken)"
                for target in [page, "/sign-in", "/", "/metrics", server.target("users/caller")] {
                    try await connection.send("HEAD", target)
                    let head = try #require(try await connection.response(hasBody: false))
                    #expect(!head.head.contains("Content-Length: 0"), "\(target)")
                }
                try await connection.send("GET", server.target("users/caller"))
                let next = try #require(try await connection.response())
                #expect(next.status == 200)
                #expect(next.head.hasPrefix("HTTP/1.1 200"))
                #expect(next.body.contains("userRecordName"))
            }
        }
    }

    @Test("A connection that stays silent is closed", .timeLimit(.minutes(2)))
    func silence() async throws {
        var configuration = CloudServer.Configuration(idleSeconds: 1)
        // The time limit of a request would close it as well.
        configuration.requestSeconds = 3600
        try await TestServer.run(configuration) { server in
            let port = try #require(URL(string: server.url)?.port)
            let group = MultiThreadedEventLoopGroup.singleton
            let channel = try await ClientBootstrap(group: group)
                .connect(host: "127.0.0.1", port: port).get()
            // Half a request, and then nothing.
            try? await channel.writeAndFlush(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a"))
            let limit = ClosingLimit(channel)
            try await channel.closeFuture.get()
            #expect(await limit.isKept())
        }
    }
}
