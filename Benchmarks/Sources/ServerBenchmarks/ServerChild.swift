import BenchmarkHarness
import CloudKitServer
import CloudKitServerCore
import CloudKitWebClient
import Foundation
import Hummingbird
import Logging

/// A server in its own process, which `bench` starts with the arguments that `run` reads.
public enum ServerChild: String, Sendable {
    /// A server of this package with an empty store.
    case cloud = "--serve-cloud"
    /// A Hummingbird server with one handler.
    case plain = "--serve-plain"
    /// A server of this package with users whose devices wait for notifications.
    case polls = "--serve-polls"

    /// Serves until the process is ended; prints the URL for requests.
    public func run() async throws {
        var logger = Logger(label: "child")
        logger.logLevel = .critical
        switch self {
        case .cloud: try await Self.serveCloud(logger)
        case .plain: try await Self.servePlain(logger)
        case .polls: try await PollingUser.serve(logger)
        }
    }

    private static func serveCloud(_ logger: Logger) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let server = try CloudServer(
            configuration: .init(directory: directory.path),
            logger: logger
        )
        let token = try await server.service.addAPIToken(
            container: "iCloud.bench",
            environment: .development
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let path = "/database/1/iCloud.bench/development/public/zones/list"
            say("\(try await server.url())\(path)?ckAPIToken=\(token)")
            try await group.waitForAll()
        }
    }

    private static func servePlain(_ logger: Logger) async throws {
        let router = Router()
        router.get("hello") { _, _ in "Hello" }
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: {
                say("http://127.0.0.1:\($0.localAddress?.port ?? 0)/hello")
            },
            logger: logger
        )
        try await application.run()
    }

    private static func say(_ url: String) {
        FileHandle.standardOutput.write(Data((url + "\n").utf8))
    }

    /// Starts the process, waits for its first correct response, and ends it.
    ///
    /// - Parameter look: Inspects the process before it ends.
    /// - Throws: `BenchError` when the process does not respond as expected.
    func start(_ look: (Process) throws -> Void = { _ in }) async throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [rawValue]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var line = Data()
        while !line.contains(10) {
            let part = output.fileHandleForReading.availableData
            if part.isEmpty { throw BenchError(description: "\(rawValue) printed no URL") }
            line += part
        }
        let url = String(decoding: line.dropLast(), as: UTF8.self)
        let response = try await HTTPTransport().send(
            TransportRequest(method: "GET", url: url)
        )
        guard response.status == 200 else {
            throw BenchError(description: String(decoding: response.body, as: UTF8.self))
        }
        try look(process)
    }
}

extension Benchmark {
    /// The benchmark of the time from the start of a process to its first correct response, compared
    /// to a plain server.
    static var start: Benchmark {
        .time(
            "start",
            .atMost(3),
            subject: Work("server with an empty store") { try await ServerChild.cloud.start() },
            floor: Work("plain Hummingbird server") { try await ServerChild.plain.start() }
        )
    }

    /// The benchmark of a waiting server's memory, in megabytes, after one response.
    static var idleMemory: Benchmark {
        Benchmark(name: "idle-memory", bar: .atMost(60)) { _ in
            var kilobytes = 0.0
            try await ServerChild.cloud.start { process in
                let status = try String(
                    contentsOfFile: "/proc/\(process.processIdentifier)/status",
                    encoding: .utf8
                )
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
                kilobytes = Double(line.filter(\.isNumber)) ?? .nan
            }
            return Figure(kilobytes / 1024, detail: "VmRSS in megabytes after one response")
        }
    }
}
