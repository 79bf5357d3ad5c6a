import BenchmarkHarness
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWebClient
import Foundation

extension Benchmark {
    /// Compares 64 simultaneous clients, each with one durable record per request, to the same
    /// service with a storage that writes each record in its own transaction.
    ///
    /// Both services run in the process, so that only the storage differs: JSON, credentials and
    /// rules are the same on both sides. A client sends its next request after the last response.
    static func groupCommit(in directory: URL) -> Benchmark {
        Benchmark(name: "group-commit-64", bar: .atLeast(5)) { rounds in
            let group = try await WritingClients(
                directory.appendingPathComponent("group"),
                writesPerCommit: 256
            )
            let single = try await WritingClients(
                directory.appendingPathComponent("single"),
                writesPerCommit: 1
            )
            return try await rounds.compare(
                group.work("64 writes at once"),
                with: single.work("one transaction each")
            ).rateFigure
        }.tellingSyncTime(in: directory)
    }

    /// Adds the duration of a sync on the same file system to a figure of durable writes.
    func tellingSyncTime(in directory: URL) -> Benchmark {
        Benchmark(name: name, bar: bar) { [measure] rounds in
            var figure = try await measure(rounds)
            let sync = try SyncTime.median(in: directory)
            figure.detail += "; fdatasync p50 \(sync) µs on the same file system"
            return figure
        }
    }
}

/// A service with a data file, and 64 clients that write to it.
private struct WritingClients: Sendable {
    private static let count = 64
    private static let writesOfEach = 16
    private static let container = "iCloud.bench"
    /// The part of a response that says that the record was saved.
    private static let savedMark = Array("recordChangeTag".utf8)

    private let service: CloudService
    private let path: String
    private let query: String
    private let note = NoteBatch(count: 1, zone: WireZoneID.defaultZoneName)
    private let number = Counter()

    init(_ directory: URL, writesPerCommit: Int) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        service = CloudService(
            storage: try SQLiteStorage(
                path: directory.appendingPathComponent("cloud.sqlite").path,
                writesPerCommit: writesPerCommit
            ),
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        let apiToken = try await service.addAPIToken(
            container: Self.container,
            environment: .development
        )
        let user = try await service.addUser(container: Self.container, name: "Ada")
        let webToken = try await service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        path = "/database/1/\(Self.container)/development/private/records/modify"
        let escaped = webToken.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        query = "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escaped)"
    }

    func work(_ name: String) -> Work {
        Work(name, units: Double(Self.count * Self.writesOfEach)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.count {
                    group.addTask { for _ in 0..<Self.writesOfEach { try await write() } }
                }
                try await group.waitForAll()
            }
        }
    }

    private func write() async throws {
        let body = note.body(number.next())
        let response = await service.respond(
            to: ServiceRequest(method: "POST", path: path, query: query, body: body, baseURL: "")
        )
        // Searching for it with Foundation would be a fifth of what is measured.
        let isSaved = response.body.withUnsafeBytes { body in
            body.indices.contains {
                body[$0] == Self.savedMark[0] && body[$0...].starts(with: Self.savedMark)
            }
        }
        guard response.status == 200, isSaved else {
            throw BenchError(description: String(decoding: response.body, as: UTF8.self))
        }
    }
}

/// The duration of a sync.
enum SyncTime {
    /// Returns the median of 200 appends of a page with `fdatasync`, in microseconds.
    static func median(in directory: URL) throws -> Int {
        let path = directory.appendingPathComponent("sync").path
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw BenchError(description: "\(path) cannot be made") }
        defer { close(file) }
        let page = [UInt8](repeating: 7, count: 4096)
        var times: [Duration] = []
        for _ in 0..<200 {
            let start = ContinuousClock.now
            guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
                throw BenchError(description: "\(path) cannot be written")
            }
            times.append(ContinuousClock.now - start)
        }
        times.sort()
        return Int(times[times.count / 2] / .microseconds(1))
    }
}
