import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import Metrics
import ServerFixtures
import Synchronization
import Testing

@Suite("What a server writes down")
struct ObservationTests {
    private static let key = "a key that only tests know"

    private static func journal(_ server: TestServer) async throws -> [JSON] {
        try await server.send(
            server.url + "/_ck/journal",
            method: "GET",
            headers: [("Authorization", "Bearer \(key)")]
        ).body.entries.elements
    }

    private static func configuration() -> CloudServer.Configuration {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = key
        return configuration
    }

    @Test("The journal has each request, and for each refusal what was wrong and what to do")
    func journal() async throws {
        try await TestServer.run(Self.configuration()) { server in
            try await server.addZone("Notes")
            _ = try await server.save([
                FixtureCloud.note("create", "a"), FixtureCloud.note("update", "b", tag: "1"),
            ])
            let refused = try await server.save([FixtureCloud.note("create", "a")], in: "Nowhere")
            let entries = try await Self.journal(server)
            #expect(
                entries.map(\.endpoint) == ["zones/modify", "records/modify", "records/modify"]
            )
            #expect(entries.map(\.status) == [200, 200, 404])
            #expect(entries[0].problems == [])
            // The request was atomic: one record failed, and therefore the other.
            let problems = entries[1].problems.elements
            #expect(problems.map(\.item) == ["a", "b"])
            #expect(problems.map(\.code) == ["ATOMIC_ERROR", "NOT_FOUND"])
            let problem = entries[2].problems[0]
            #expect(problem.code == "ZONE_NOT_FOUND")
            #expect(problem.reason == refused.body.reason)
            #expect(problem.remedy.text?.contains("zones/modify") == true)
            #expect(entries[2].id == refused.body.uuid)
            #expect(entries[2].database == "development/private")
            #expect(entries[2].container == .string(TestServer.container))
        }
    }

    @Test("What a request names cannot change the terminal of who watches, or forge an entry")
    func terminal() async throws {
        let seen = Watched()
        var configuration = Self.configuration()
        configuration.onRequest = { entry in seen.add(entry.description) }
        try await TestServer.run(configuration) { server in
            try await server.addZone("Notes")
            let evil = "x\u{1B}]0;pwned\u{7}\u{1B}[2J\r\n09:00:00  200  GET  forged\u{202E}\u{9B}2J"
            _ = try await server.save([FixtureCloud.note("update", evil, tag: "1")])
            _ = try await server.call(
                "records/query",
                ["query": ["recordType": .string(evil)], "zoneID": ["zoneName": .string(evil)]]
            )
            for path in [
                "/x%1b%5b2J%0aforged", "/database/1/x%1b%0aforged/development/public/a%0ab",
            ] {
                _ = try await server.send(server.url + path)
            }
            let text = seen.entries.joined(separator: "\n")
            #expect(seen.entries.count == 5)
            #expect(text.contains("pwned"))
            for scalar in text.unicodeScalars where scalar != "\n" {
                #expect(scalar.properties.generalCategory != .control)
                #expect(scalar != "\u{202E}")
            }
            let lines = text.split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("09:00:00") || $0.hasPrefix("forged") })
        }
    }

    /// Collects the entries that a person would see.
    private final class Watched: Sendable {
        private let texts = Mutex<[String]>([])

        var entries: [String] { texts.withLock { $0 } }

        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    @Test("The journal forgets the oldest requests first")
    func journalCapacity() async throws {
        var configuration = Self.configuration()
        configuration.journalCapacity = 3
        try await TestServer.run(configuration) { server in
            for endpoint in ["zones/list", "a", "b", "c", "d"] {
                _ = try await server.call(endpoint, [:])
            }
            let entries = try await Self.journal(server)
            #expect(entries.map(\.endpoint) == ["b", "c", "d"])
            #expect(
                entries.map(\.problems).map { $0[0].code } == [
                    "NOT_FOUND", "NOT_FOUND", "NOT_FOUND",
                ]
            )
            _ = try await server.send(
                server.url + "/_ck/journal",
                method: "DELETE",
                headers: [("Authorization", "Bearer \(Self.key)")]
            )
            #expect(try await Self.journal(server) == [])
        }
    }

    @Test("A fault that was asked for stands beside the request that met it")
    func faults() async throws {
        var configuration = Self.configuration()
        configuration.faults = FaultPlan(rules: [
            FaultRule(.error(.zoneBusy), operation: "none"),
            FaultRule(.error(.zoneBusy), operation: "zones/list", call: 1),
        ])
        try await TestServer.run(configuration) { server in
            _ = try await server.call("zones/list", [:])
            _ = try await server.call("zones/list", [:])
            #expect(try await Self.journal(server).map(\.faults) == [[1], []])
        }
    }

    @Test("A person who watches sees each request in words")
    func watcher() async throws {
        let lines = Lines()
        var configuration = Self.configuration()
        configuration.onRequest = { lines.add($0.description) }
        try await TestServer.run(configuration) { server in
            _ = try await server.save([FixtureCloud.note("create", "a")], in: "Nowhere")
        }
        let text = lines.all.joined(separator: "\n")
        #expect(text.contains("404  POST  records/modify  \(TestServer.container) development"))
        #expect(text.contains("ZONE_NOT_FOUND: Zone does not exist: Nowhere"))
        #expect(text.contains("-> Create the zone with zones/modify"))
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) {
            lines.withLock { $0.append(line) }
        }
    }

    @Test("Prometheus finds requests, times and sizes, and clients cannot make series of their own")
    func metrics() async throws {
        try await TestServer.run(Self.configuration()) { server in
            _ = try await server.call("zones/list", [:])
            _ = try await server.call("zones/list", [:])
            for path in ["nonsense/one", "nonsense/two"] { _ = try await server.call(path, [:]) }
            let response = try await server.send(server.url + "/metrics", method: "GET")
            #expect(
                response.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true
            )
            let text = String(decoding: response.data, as: UTF8.self)
            let lines = text.split(separator: "\n").map(String.init)
            let prefix = "cloudkit_requests_total{endpoint="
            #expect(lines.contains("\(prefix)\"zones/list\",status=\"200\",code=\"\"} 2"))
            #expect(lines.contains("\(prefix)\"other\",status=\"404\",code=\"NOT_FOUND\"} 2"))
            #expect(!text.contains("nonsense"))
            #expect(lines.contains("# TYPE cloudkit_request_duration_seconds histogram"))
            let count = "cloudkit_request_duration_seconds_count{endpoint=\"zones/list\"} 2"
            #expect(lines.contains(count))
            #expect(lines.contains("cloudkit_requests_in_flight 1"))
        }
    }

    @Test("Prometheus finds what the storage measures, as it is at that time")
    func storageMetrics() async throws {
        let storage = try MeasuredStorage()
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        try await TestServer.run(CloudServer(serving: service)) { server in
            func lines() async throws -> [String] {
                let response = try await server.send(server.url + "/metrics", method: "GET")
                return String(decoding: response.data, as: UTF8.self).split(separator: "\n")
                    .map(String.init).filter { $0.contains("cloudkit_test") }
            }
            storage.lags.withLock { $0 = ["a\"b": 2.5, "c": 3] }
            let found = try await lines()
            #expect(
                found == [
                    "# HELP cloudkit_test_reads_total Reads.",
                    "# TYPE cloudkit_test_reads_total counter", "cloudkit_test_reads_total 7",
                    "# HELP cloudkit_test_lag_seconds How late it is.",
                    "# TYPE cloudkit_test_lag_seconds gauge",
                    #"cloudkit_test_lag_seconds{standby="a\"b"} 2.5"#,
                    #"cloudkit_test_lag_seconds{standby="c"} 3"#,
                ]
            )
            storage.lags.withLock { $0 = [:] }
            let rest = try await lines()
            #expect(rest.count == 3)
        }
    }

    @Test("What a program measures through swift-metrics is in the text too")
    func prometheus() {
        let metrics = PrometheusMetrics()
        Counter(label: "my.jobs", dimensions: [("kind", "a\"b\\c\nd")], factory: metrics)
            .increment(by: 3)
        Gauge(label: "depth", factory: metrics).record(2.5)
        let timer = Timer(label: "wait", factory: metrics)
        for milliseconds in [1, 30, 20_000] { timer.recordMilliseconds(milliseconds) }
        Recorder(label: "size", factory: metrics).record(1000)
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("my_jobs{kind=\"a\\\"b\\\\c\\nd\"} 3"))
        #expect(lines.contains("# TYPE depth gauge"))
        #expect(lines.contains("depth 2.5"))
        #expect(lines.contains("wait_bucket{le=\"0.001\"} 1"))
        #expect(lines.contains("wait_bucket{le=\"0.05\"} 2"))
        #expect(lines.contains("wait_bucket{le=\"10\"} 2"))
        #expect(lines.contains("wait_bucket{le=\"+Inf\"} 3"))
        #expect(lines.contains("wait_count 3"))
        #expect(lines.contains("size_bucket{le=\"1024\"} 1"))
    }

    @Test("The log has a line for each request, without names, values or tokens")
    func log() async throws {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in LineLog(lines: lines) }
        logger.logLevel = .debug
        let server = try CloudServer(configuration: Self.configuration(), logger: logger)
        let token = try await server.service.addAPIToken(
            container: TestServer.container,
            environment: .development
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let url = try await server.url()
            let client = TestServer(url: url, apiToken: token, webToken: "secret")
            _ = try await client.save([FixtureCloud.note("create", "diary")], in: "Private")
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
        let line = try #require(lines.all.first { $0.contains("Request finished") })
        for part in [
            "endpoint=records/modify", "status=421", "code=AUTHENTICATION_REQUIRED",
            "container=\(TestServer.container)", "scope=private", "milliseconds=",
        ] {
            #expect(line.contains(part), "\(line)")
        }
        for line in lines.all {
            for word in ["diary", "Private", token, "secret"] { #expect(!line.contains(word)) }
        }
    }

    /// Collects log messages.
    private struct LineLog: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.add("\(event.level) \(event.message) " + pairs.joined(separator: " "))
        }
    }
}

/// A storage in memory with metrics of its own.
private final class MeasuredStorage: WrappingStorage {
    let base: SQLiteStorage
    let lags = Mutex<[String: Double]>([:])

    init() throws { base = try SQLiteStorage(path: nil) }

    func metrics() async -> [StorageMetric] {
        let lags = lags.withLock { $0 }.sorted { $0.key < $1.key }
        return [StorageMetric("cloudkit_test_reads_total", .counter, 7, "Reads.")]
            + lags.map { name, lag in
                StorageMetric(
                    "cloudkit_test_lag_seconds",
                    .gauge,
                    lag,
                    "How late it is.",
                    label: .init("standby", name)
                )
            }
    }
}
