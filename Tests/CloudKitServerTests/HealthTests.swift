import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import NIOCore
import ServerFixtures
import Synchronization
import Testing

@Suite("What operators look at")
struct HealthTests {
    private static func get(
        _ server: TestServer,
        _ path: String,
        _ headers: [(String, String)] = []
    ) async throws -> TestServer.Response {
        try await server.send(server.url + path, method: "GET", headers: headers)
    }

    @Test("The server says that it is alive and ready, under any name, and keeps no entry of it")
    func health() async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = "a key that only tests know"
        try await TestServer.run(configuration) { server in
            for path in ["/health/live", "/health/ready"] {
                for headers in [[], [("Host", "lb.internal")], [("X-Forwarded-For", "192.0.2.1")]] {
                    let response = try await Self.get(server, path, headers)
                    #expect(response.status == 200)
                    #expect(response.body.status == "ok")
                    #expect(response.headers["cache-control"] == "no-store")
                }
                #expect(try await server.send(server.url + path).status == 405)
            }
            let journal = try await Self.get(
                server,
                "/_ck/journal",
                [("Authorization", "Bearer a key that only tests know")]
            )
            #expect(journal.body.entries == [])
        }
    }

    @Test("A server whose storage cannot be read is alive and not ready")
    func unready() async throws {
        let storage = try FailingStorage()
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        try await TestServer.run(CloudServer(serving: service)) { server in
            #expect(try await Self.get(server, "/health/ready").status == 200)
            storage.fails.store(true, ordering: .relaxed)
            let ready = try await Self.get(server, "/health/ready")
            #expect(ready.status == 503)
            #expect(ready.body.reason == "The storage cannot be read")
            #expect(try await Self.get(server, "/health/live").status == 200)
        }
    }

    @Test("The address itself shows a short page that says what this is, and runs nothing")
    func page() async throws {
        try await TestServer.run { server in
            let response = try await Self.get(server, "/")
            let text = String(decoding: response.data, as: UTF8.self)
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == "text/html; charset=UTF-8")
            #expect(text.contains("A CloudKit server"))
            #expect(text.contains(server.url))
            #expect(text.contains("/health/ready"))
            #expect(!text.contains(TestServer.container))
            #expect(
                response.headers["content-security-policy"]?.contains("default-src 'none'") == true
            )
            let foreign = try await Self.get(server, "/", [("Host", "evil.example")])
            #expect(foreign.status == 403)
        }
    }

    @Test("The nonces of the pages are 32 digits, whatever their bytes")
    func nonces() async throws {
        try await TestServer.run { server in
            // Two of three nonces contain a byte below 16.
            for path in ["/", "/sign-in"] {
                for _ in 0..<32 {
                    let policy = try await Self.get(server, path)
                        .headers["content-security-policy"]
                    let nonce = try #require(policy?.firstMatch(of: /style-src 'nonce-([^']*)'/)).1
                    #expect(nonce.count == 32)
                    #expect(!nonce.contains { !$0.isHexDigit })
                }
            }
        }
    }

    @Test("Every response has an identifier, which is that of the line in the log")
    func requestIDs() async throws {
        let lines = LogLines()
        var logger = Logger(label: "test") { _ in lines.handler }
        logger.logLevel = .debug
        let configuration = CloudServer.Configuration()
        try await TestServer.run(CloudServer(configuration: configuration, logger: logger)) {
            server in
            var identifiers: [String] = []
            for url in [
                server.url + "/", server.url + "/nowhere", server.url + "/sign-in",
                server.endpoint("zones/list"), server.url + "/assets/download/none",
            ] {
                let response = try await server.send(url, method: "GET")
                identifiers.append(try #require(response.headers["x-apple-request-uuid"]))
            }
            #expect(Set(identifiers).count == 5)
            let logged = lines.all.compactMap { $0["request.id"] }
            for identifier in identifiers { #expect(logged.contains(identifier)) }
        }
    }

    @Test("Each metric follows the conventions, says what it is, and stands in the documents")
    func metrics() async throws {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("docs/operating/self-hosting.md"),
            encoding: .utf8
        )
        let documented = Dictionary(
            page.matches(of: /\| `([a-z_]+)` \| (counter|gauge|histogram) \|/)
                .map { (String($0.output.1), String($0.output.2)) }
                .filter { !$0.0.hasPrefix("cloudkit_postgres_") }
        ) { first, _ in first }
        try await TestServer.run { server in
            _ = try await server.call("zones/list", [:])
            let response = try await Self.get(server, "/metrics")
            let lines = String(decoding: response.data, as: UTF8.self).split(separator: "\n")
            let kinds = Dictionary(
                uniqueKeysWithValues: lines.filter { $0.hasPrefix("# TYPE ") }.map { line in
                    let words = line.split(separator: " ")
                    return (String(words[2]), String(words[3]))
                }
            )
            #expect(kinds == documented)
            #if os(Linux)
            let start = try #require(
                lines.first { $0.hasPrefix("process_start_time_seconds ") }
                    .flatMap { Double($0.split(separator: " ")[1]) }
            )
            let age = Date.now.timeIntervalSince1970 - start
            #expect(age > 0 && age <= ProcessInfo.processInfo.systemUptime)
            #endif
            for (name, kind) in kinds {
                #expect(lines.contains { $0.hasPrefix("# HELP \(name) ") })
                #expect((kind == "counter") == name.hasSuffix("_total"))
                if kind == "histogram" {
                    #expect(name.hasSuffix("_seconds") || name.hasSuffix("_bytes"))
                }
            }
        }
    }
}

extension HealthTests {
    @Test("A server that holds requests responds to them when its program lets it")
    func held() async throws {
        var configuration = CloudServer.Configuration()
        configuration.holdsRequests = true
        let cloud = try CloudServer(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await cloud.run() }
            defer { group.cancelAll() }
            let server = TestServer(url: try await cloud.url(), apiToken: "", webToken: "")
            let isTold = Mutex(false)
            try await RawConnection.run(server) { connection in
                try await connection.send("GET", "/health/ready")
                // A server that does not wait answers before.
                connection.channel.eventLoop.scheduleTask(in: .milliseconds(300)) {
                    isTold.withLock { $0 = true }
                    cloud.acceptRequests()
                }
                let response = try await connection.response()
                #expect(response?.status == 200)
                #expect(isTold.withLock { $0 })
            }
        }
    }
}

/// A storage whose disk fails when a test requests it.
private final class FailingStorage: WrappingStorage {
    let fails = Atomic(false)
    let base: SQLiteStorage

    init() throws {
        base = try SQLiteStorage(path: nil)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        guard !fails.load(ordering: .relaxed) else {
            throw StorageError(.inputOutput, "The disk does not response")
        }
        return try await base.read(body)
    }
}

/// Collects lines of a log as their metadata.
final class LogLines: Sendable {
    private let lines = Mutex<[[String: String]]>([])

    var all: [[String: String]] { lines.withLock { $0 } }
    var handler: any LogHandler { Handler(lines: self) }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var line = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            line["message"] = event.message.description
            line["level"] = event.level.rawValue
            let found = line
            lines.lines.withLock { $0.append(found) }
        }
    }
}
