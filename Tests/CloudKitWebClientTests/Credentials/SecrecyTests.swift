import AsyncHTTPClient
import CloudKit
import CloudKitExtras
import CloudKitWebClient
import CloudKitWire
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Support
import Synchronization
import Testing

/// Combines every way in which a call can fail, and every value that contains a secret, with every
/// way to print them.
@Suite("Secrets stay where they are", .timeLimit(.minutes(10)))
struct SecrecyTests {
    /// Thirteen secrets; tokens contain characters that URLs escape.
    enum Secret {
        static let api = "api0123456789abcdef"
        static let user = "user+token/0123456789=="
        static let renewed = "renewed+token/0123456789=="
        static let other = "other+users/token0123456789=="
        static let download = "downloadSignature0123456789"
        static let upload = "uploadSignature0123456789"
        static let courier = "courierPlace0123456789"
        static let urlPassword = "urlPassword0123456789"
        static let urlQuery = "urlQuery0123456789"
        static let proxyPassword = "proxyPassword0123456789"
        static let receipt = "uploadReceipt0123456789"
        static let fileToken = "tokenInTheFile0123456789"
        static let key = "privateKeyText0123456789"

        static let all = [
            api, user, renewed, other, download, upload, courier, urlPassword, urlQuery,
            proxyPassword, receipt, fileToken, key,
        ]
    }

    /// Returns everything that a program may print of a value.
    static func texts(of value: Any) -> String {
        var text = "\(value)\n\(String(reflecting: value))\n"
        dump(value, to: &text)
        guard let error = value as? any Error else { return text }
        text += "\n\(error.localizedDescription)\n\((error as NSError).userInfo)"
        if let error = value as? WebClientError {
            text += texts(of: CKError.make(error))
            if case .transport(let failure) = error, let cause = failure.cause {
                text += texts(of: cause)
            }
        }
        return text
    }

    static func expectSilence(
        of text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let plain = text.removingPercentEncoding ?? text
        for secret in Secret.all {
            #expect(
                !text.contains(secret) && !plain.contains(secret),
                "\(secret) in \(text.prefix(2000))",
                sourceLocation: sourceLocation
            )
        }
    }

    private static func expectFailure(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ call: () async throws -> Void
    ) async {
        do {
            try await call()
            Issue.record("no error", sourceLocation: sourceLocation)
        } catch {
            expectSilence(of: texts(of: error), sourceLocation: sourceLocation)
        }
    }

    private func credentials() -> WebCredentials {
        WebCredentials(apiToken: Secret.api, webAuthToken: Secret.user)
    }

    func client(
        _ url: String,
        _ transport: any Transport = HTTPTransport()
    ) -> WebClient {
        var client = WebClient(
            url: url,
            container: "c",
            environment: .development,
            credentials: credentials(),
            transport: transport
        )
        client.timeout = 0.3
        return client
    }

    /// Performs all calls that can fail, one after the other.
    private func failEverything(_ client: WebClient, _ server: String) async throws {
        let here = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("bytes".utf8).write(to: here)
        defer { try? FileManager.default.removeItem(at: here) }
        let there = here.appendingPathExtension("new")
        defer { try? FileManager.default.removeItem(at: there) }
        await Self.expectFailure { _ = try await client.caller() }
        await Self.expectFailure { _ = try await client.listZones(in: .private) }
        await Self.expectFailure {
            _ = try await client.modifyZones(.init(operations: []), in: .private)
        }
        await Self.expectFailure { _ = try await client.createToken(clientID: "x") }
        await Self.expectFailure {
            _ = try await client.databaseChanges(.init(syncToken: Secret.user), in: .private)
        }
        await Self.expectFailure { _ = try await client.listSubscriptions(in: .private) }
        await Self.expectFailure {
            let link = Data(#"{"shortGUIDs":[{"value":"g"}]}"#.utf8)
            let request = try JSONDecoder().decode(SharesRequest.self, from: link)
            _ = try await client.resolveShares(request)
        }
        await Self.expectFailure {
            let query = Data(#"{"query":{"recordType":"Note"}}"#.utf8)
            let request = try JSONDecoder().decode(QueryRecordsRequest.self, from: query)
            _ = try await client.queryRecords(request, in: .private)
        }
        await Self.expectFailure {
            try await client.download(
                WireAsset(
                    fileChecksum: "x",
                    size: 999_999,
                    downloadURL: "\(server)/\(Secret.download)/${f}?s=\(Secret.download)"
                ),
                to: there
            )
        }
        await Self.expectFailure {
            let url = "\(server)/up/\(Secret.upload)?s=\(Secret.upload)"
            let json = #"{"recordName":"r","fieldName":"f","url":"\#(url)"}"#
            let token = try JSONDecoder()
                .decode(UploadAssetsResponse.Token.self, from: Data(json.utf8))
            _ = try await client.upload(here, to: token)
        }
    }

    /// Returns JSON in another form than any call expects.
    private static func misfit(_ text: String) -> String {
        #"{"records":"\#(text)","zones":7,"receipt":"\#(Secret.receipt)"}"#
    }

    private static func refusal(_ text: String) -> String {
        #"{"serverErrorCode":"BAD_REQUEST","reason":"\#(text)","uuid":"u"}"#
    }

    @Test("No error of any call reveals a secret, whatever the server does")
    func errors() async throws {
        let replies: [@Sendable (ReplyServer.Request) -> ReplyServer.Reply] = [
            { .response(502, "<html>You asked for \($0.text)</html>") },
            { .response(200, "You asked for \($0.text)") },
            { _ in .response(404, "") }, { .response(403, "\($0.text)") },
            { .response(200, Self.misfit($0.head.uri)) },
            {
                let field = ("X-Apple-CloudKit-Web-Auth-Token", Secret.renewed)
                return .response(400, Self.refusal($0.head.uri), [field])
            },
            { _ in .response(503, "busy", [("Retry-After", "1")]) },
            { _ in .hangUp }, { _ in .silence }, { .half($0.text) },
        ]
        for reply in replies {
            try await ReplyServer.run(reply) { port, _ in
                let server = "http://127.0.0.1:\(port)"
                let client = client(server)
                try await failEverything(client, server)
                Self.expectSilence(of: Self.texts(of: client))
            }
        }
    }

    @Test("A text that is too long to be searched for secrets is left out")
    func longText() async throws {
        let text = String(repeating: "%2541", count: 20_000)
        let transport = ScriptedTransport { _, _ in
            TransportResponse(status: 400, body: Data(Self.refusal(text).utf8))
        }
        let error = await #expect(throws: WebClientError.self) {
            try await client("http://cloud.invalid", transport).listZones(in: .private)
        }
        let told = try #require(error).description
        #expect(told.contains("[secret]") && !told.contains("2541"))
    }

    @Test("No error reveals a secret when there is no server, no trust, or no address")
    func noServer() async throws {
        let socket = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(socket.localAddress?.port)
        let gone = "http://127.0.0.1:\(port)"
        try await failEverything(client(gone), gone)
        try await socket.close().get()
        try await ReplyServer.run(tls: ReplyServer.tls()) { _ in
            .silence
        } _: { port, _ in
            let server = "https://127.0.0.1:\(port)"
            try await failEverything(client(server), server)
        }
        for bad in [
            "127.0.0.1:1", "http://a b", "http://127.0.0.1:91000", "ftp://x", "",
            "http://ada:\(Secret.urlPassword)@127.0.0.1:1",
            "http://127.0.0.1:1?q=\(Secret.urlQuery)",
            "ada:\(Secret.urlPassword)@127.0.0.1", "http://ada:\(Secret.urlPassword)@h:99999",
        ] {
            try await failEverything(client(bad), bad)
        }
    }

    /// An error like those of other HTTP clients, with the whole address.
    private struct Foreign: Error, CustomStringConvertible {
        let url: String
        var description: String { "failed: \(url)" }
    }

    @Test("What a transport of another make throws is passed on without its secrets")
    func foreignTransport() async throws {
        let transport = ScriptedTransport { request, _ in throw Foreign(url: request.url) }
        try await failEverything(client("http://cloud.invalid", transport), "http://cloud.invalid")
        let cocoa = ScriptedTransport { request, _ in
            throw NSError(domain: "d", code: 1, userInfo: ["address": request.url])
        }
        try await failEverything(client("http://cloud.invalid", cocoa), "http://cloud.invalid")
        let client = client("http://cloud.invalid", transport)
        await Self.expectFailure {
            _ = try await client.nextNotification(at: "http://cloud.invalid/\(Secret.courier)")
        }
        // A new sign-in in the middle: the previous token stays a secret.
        let switching = self.client(
            "http://cloud.invalid",
            ScriptedTransport { [client] request, _ in
                client.credentials.signIn(webAuthToken: Secret.other)
                throw Foreign(url: request.url)
            }
        )
        await Self.expectFailure { _ = try await switching.caller() }
        Self.expectSilence(of: Self.texts(of: client))
    }

    @Test("Settings that are refused keep what is secret of them to themselves")
    func settings() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let keyFile = folder.appendingPathComponent("key.pem")
        try Data("-----BEGIN EC PRIVATE KEY-----\n\(Secret.key)\n".utf8).write(to: keyFile)
        let tokenFile = folder.appendingPathComponent("token")
        try Data(Secret.fileToken.utf8).write(to: tokenFile)
        let tokens = [
            "CLOUDKIT_API_TOKEN": Secret.api, "CLOUDKIT_WEB_AUTH_TOKEN": Secret.user,
            "CLOUDKIT_WEB_AUTH_TOKEN_FILE": tokenFile.path,
        ]
        let key = ["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_PRIVATE_KEY_FILE": keyFile.path]
        let refused: [[String: String]] = [
            key, key.merging(tokens) { $1 }, tokens.merging(["CLOUDKIT_ENVIRONMENT": "x"]) { $1 },
            tokens.merging(["CLOUDKIT_URL": "http://a:\(Secret.urlPassword)@b"]) { $1 },
            tokens.merging(["CLOUDKIT_URL": "a?\(Secret.urlQuery)"]) { $1 }, tokens,
        ]
        for variables in refused {
            let error = #expect(throws: ConnectionVariables.Incomplete.self) {
                try ConnectionVariables(variables).client()
            }
            Self.expectSilence(of: error.map { Self.texts(of: $0) } ?? "")
            Self.expectSilence(of: Self.texts(of: ConnectionVariables(variables)))
        }
        let client = try ConnectionVariables(tokens).client(container: "c")
        #expect(client.credentials.webAuthToken == Secret.fileToken)
        Self.expectSilence(of: Self.texts(of: client))
    }

    @Test("Values that hold secrets print none, on their own and inside of others")
    func values() throws {
        let pem = ServerKey.makePrivateKeyPEM()
        let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
        let key = try ServerKey(keyID: "k", privateKeyPEM: pem)
        let program = WebCredentials(serverKey: key)
        for value in [key, program] as [Any] {
            let text = Self.texts(of: value)
            for line in body { #expect(!text.contains(line)) }
            #expect(text.contains("k"))
        }
        let client = client("http://cloud.invalid")
        let request = TransportRequest(
            method: "POST",
            url: "http://cloud.invalid/x?ckWebAuthToken=\(Secret.user)",
            headers: ["X-Apple-CloudKit-Request-SignatureV1": Secret.download],
            body: Data(Secret.api.utf8)
        )
        let response = TransportResponse(
            status: 200,
            headers: ["x-apple-cloudkit-web-auth-token": Secret.renewed],
            body: Data(Secret.receipt.utf8)
        )
        let values: [Any] = [
            client, client.credentials, client.transport, request, response,
            CKContainer(client: client), CKContainer(client: client).connection,
            ["nested": (client, request)],
        ]
        for value in values { Self.expectSilence(of: Self.texts(of: value)) }
        #expect("\(request)" == "POST to http://cloud.invalid, \(Secret.api.utf8.count) bytes")
    }

    /// A log handler that stores every line, with its metadata.
    private struct Memory: LogHandler {
        final class Lines: Sendable {
            private let lines = Mutex<[String]>([])
            var all: [String] { lines.withLock { $0 } }
            func add(_ line: String) { lines.withLock { $0.append(line) } }
        }

        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.add("\(event.level) \(event.message) \(metadata)")
        }
    }

    /// The names of a record and a zone.
    private static let names = ["recordName0123456789", "zoneName0123456789"]

    @Test(
        "No line of the log reveals a secret or a name, at any level; each request has one at debug"
    )
    func logs() async throws {
        let lines = Memory.Lines()
        var logger = Logger(label: "test") { _ in Memory(lines: lines) }
        logger.logLevel = .trace
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            backgroundActivityLogger: logger
        )
        try await ReplyServer.run {
            .response(502, $0.text)
        } _: { port, _ in
            let server = "http://127.0.0.1:\(port)"
            for transport in [
                HTTPTransport(logger: logger), HTTPTransport(client: http, logger: logger),
            ] {
                let client = client(server, transport)
                try await failEverything(client, server)
                let zone = WireZoneID(zoneName: Self.names[1])
                _ = try? await client.lookup([Self.names[0]], zoneID: zone, in: .private)
            }
        }
        let gone = "http://127.0.0.1:1"
        try await failEverything(client(gone, HTTPTransport(logger: logger)), gone)
        try await http.shutdown()
        Self.expectSilence(of: lines.all.joined(separator: "\n"))
        let finished = lines.all.filter { $0.hasPrefix("debug Request finished") }
        #expect(finished.contains { $0.contains("zones/list") && $0.contains("502") })
        #expect(finished.count == 22)
        for name in Self.names { #expect(!lines.all.contains { $0.contains(name) }) }
        #expect(lines.all.contains { $0.hasPrefix("debug Request failed") })
    }
}
