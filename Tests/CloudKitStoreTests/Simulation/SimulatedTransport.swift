import CloudKit
import CloudKitStore
import CloudKitWebClient
import Foundation
import GRDB
import Synchronization

/// The connection of one process of a device to the cloud.
///
/// It counts the process's operations, runs an interruption in between, and ends the process at a
/// given point.
///
/// A process that ended leaves a copy of its file in the state of that moment. Its remaining code
/// reaches neither the cloud nor that copy.
final class SimulatedTransport: Transport {
    private struct State {
        var requests = 0
        var commits = 0
        var uploads = 0
        var downloads = 0
        var crash: SimulationStep.Crash?
        /// The interruption that runs before the request with a number.
        var interruption: (request: Int, body: @Sendable () async -> Void)?
        var isDead = false
        /// `true` when the power fails with the next request or transaction.
        var isDoomed = false
        var remains: DatabaseQueue?
        /// The versions on the last page of changes, with the number of those known before it.
        var page: [String: String] = [:]
        var knownBefore = 0
        var problems: [String] = []
    }

    private let name: String
    private let base: any Transport
    private let database: DatabaseQueue
    let trace: SimulationTrace
    private let batchLimit: Int
    /// The maximum number of changes in one response; nil for the server's maximum.
    private let pageLimit: Int?
    /// A closure that receives each save request, with the response if one arrives.
    private let onModify: @Sendable (TransportRequest, TransportResponse?) -> Void
    /// A closure that receives each uploaded file, with the response.
    private let onUpload: @Sendable (URL, TransportResponse) -> Void
    private let state = Mutex(State())
    /// The observer of the file, which lives as long as the connection.
    private let watch = Mutex<CommitWatch?>(nil)

    /// The maximum number of requests in one sync; more would be an endless loop.
    private static let requestLimit = 400
    /// The number of parents that a batch may gain beyond its limit.
    private static let parents = 40

    init(
        _ name: String,
        _ base: any Transport,
        _ database: DatabaseQueue,
        _ trace: SimulationTrace,
        batchLimit: Int,
        pageLimit: Int? = nil,
        onModify: @escaping @Sendable (TransportRequest, TransportResponse?) -> Void,
        onUpload: @escaping @Sendable (URL, TransportResponse) -> Void
    ) {
        self.onModify = onModify
        self.onUpload = onUpload
        self.name = name
        self.base = base
        self.database = database
        self.trace = trace
        self.batchLimit = batchLimit
        self.pageLimit = pageLimit
    }

    /// Starts observing the transactions of the file.
    func watchFile() {
        let watch = CommitWatch(self)
        database.add(transactionObserver: watch, extent: .observerLifetime)
        self.watch.withLock { $0 = watch }
    }

    // MARK: Steps

    /// Starts a sync.
    func begin(
        crash: SimulationStep.Crash? = nil,
        interruption: (request: Int, body: @Sendable () async -> Void)? = nil
    ) {
        state.withLock { state in
            state.requests = 0
            state.commits = 0
            state.uploads = 0
            state.downloads = 0
            state.crash = crash
            state.interruption = interruption
            state.page = [:]
        }
        if case .withoutCommit(1)? = crash {
            let copy = try? database.inDatabase(Self.copy)
            state.withLock { $0.remains = copy }
        }
    }

    /// Ends a sync, and returns its problems.
    func end() -> [String] {
        state.withLock { state in
            state.crash = nil
            state.interruption = nil
            state.page = [:]
            return exchange(&state.problems, with: [])
        }
    }

    /// Ends the process, and returns its remaining file.
    func bury() throws -> DatabaseQueue {
        let remains = state.withLock { state -> DatabaseQueue? in
            defer { state.isDead = true }
            return state.isDead ? state.remains : nil
        }
        return try remains ?? database.inDatabase(Self.copy)
    }

    private static func copy(_ database: Database) throws -> DatabaseQueue {
        let copy = try SimulatedApp.emptyFile()
        try copy.inDatabase { try database.backup(to: $0) }
        return copy
    }

    // MARK: Requests

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let number = state.withLock { state -> Int in
            defer { state.requests += 1 }
            state.page = [:]
            return state.requests
        }
        if state.withLock({ $0.crash == .beforeRequest(number) }) { try die() }
        try checkLife()
        if let interruption = state.withLock({ takeInterruption(&$0, number) }) {
            await interruption()
        }
        let endpoint = Self.endpoint(of: request)
        let body = request.body.flatMap { try? JSONSerialization.jsonObject(with: $0) }
        check(body, endpoint, number)
        let response: TransportResponse
        do {
            response = try await base.send(paged(request, body, endpoint))
        } catch {
            trace.add("  \(name) \(endpoint): no response")
            if endpoint == "records/modify" { onModify(request, nil) }
            throw error
        }
        if endpoint == "records/modify" { onModify(request, response) }
        trace.add("  \(name) \(endpoint): \(response.status), \(Self.digest(body))")
        let ends = state.withLock { $0.crash == .afterRequest(number) || $0.isDoomed }
        if ends { try die() }
        if endpoint == "changes/zone" { expect(response) }
        return response
    }

    private func takeInterruption(
        _ state: inout sending State,
        _ number: Int
    ) -> (@Sendable () async -> Void)? {
        guard let interruption = state.interruption, interruption.request == number else {
            return nil
        }
        state.interruption = nil
        return interruption.body
    }

    // Several assets are transferred at once, so their transfers are counted, but not traced.

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        let number = state.withLock { Self.next(&$0.uploads) }
        try endProcess(at: .beforeUpload(number))
        try checkLife()
        let response = try await base.upload(file, to: url, progress: progress)
        onUpload(file, response)
        try endProcess(at: .afterUpload(number))
        return response
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        let number = state.withLock { Self.next(&$0.downloads) }
        try endProcess(at: .beforeDownload(number))
        try checkLife()
        try await base.download(url, to: file, progress: progress)
        try endProcess(at: .afterDownload(number))
    }

    private static func next(_ number: inout Int) -> Int {
        defer { number += 1 }
        return number
    }

    /// Ends the process if this is its planned end.
    private func endProcess(at point: SimulationStep.Crash) throws {
        if state.withLock({ $0.crash == point }) { try die() }
    }

    private func checkLife() throws {
        guard state.withLock({ $0.isDead }) else { return }
        throw TransportError(.broken, message: "The process has ended")
    }

    /// Ends the process between two transactions.
    private func die() throws {
        let needsCopy = state.withLock { !$0.isDead && !$0.isDoomed }
        let copy = needsCopy ? try database.inDatabase(Self.copy) : nil
        state.withLock { state in
            state.isDead = true
            if let copy { state.remains = copy }
        }
        try checkLife()
    }

    /// Returns a request for pages of the given size.
    private func paged(
        _ request: TransportRequest,
        _ body: Any?,
        _ endpoint: String
    ) throws -> TransportRequest {
        guard let pageLimit, endpoint == "changes/zone", var json = body as? [String: Any],
            let zones = json["zones"] as? [[String: Any]]
        else { return request }
        json["zones"] = zones.map { $0.merging(["resultsLimit": pageLimit]) { $1 } }
        var paged = request
        paged.body = try JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
        return paged
    }

    private static func endpoint(of request: TransportRequest) -> String {
        request.url.prefix { $0 != "?" }.split(separator: "/").suffix(2).joined(separator: "/")
    }

    /// Returns a digest of the body, whose JSON may have its keys in any order.
    private static func digest(_ json: Any?) -> String {
        let body = json.flatMap {
            try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys)
        }
        return String(SimulationTrace.digest(body ?? Data()), radix: 16)
    }

    // MARK: Checks

    private func check(_ body: Any?, _ endpoint: String, _ number: Int) {
        if number == Self.requestLimit {
            state.withLock { $0.problems.append("I14: \(name) asks again and again") }
        }
        let key = ["records/modify": "operations", "records/lookup": "records"][endpoint]
        guard let key, let json = body as? [String: Any], let items = json[key] as? [Any]
        else { return }
        guard items.count > min(batchLimit + Self.parents, 200) else { return }
        state.withLock {
            $0.problems.append("I13: \(name) sends \(items.count) items in \(endpoint)")
        }
    }

    /// Notes the content of a page of changes, which has to become visible immediately.
    private func expect(_ response: TransportResponse) {
        guard let json = try? JSONSerialization.jsonObject(with: response.body) as? [String: Any],
            let zones = json["zones"] as? [[String: Any]]
        else { return }
        var page: [String: String] = [:]
        for record in zones.flatMap({ $0["records"] as? [[String: Any]] ?? [] }) {
            guard let name = record["recordName"] as? String,
                let tag = record["recordChangeTag"] as? String, record["deleted"] as? Bool != true,
                record["recordType"] as? String != CKRecord.SystemType.share
            else { continue }
            page[name] = tag
        }
        let found = page
        let known = (try? database.inDatabase { try Self.known($0, of: found) }) ?? 0
        state.withLock { state in
            state.page = found
            state.knownBefore = known
        }
    }

    private static func known(_ database: Database, of page: [String: String]) throws -> Int {
        guard !page.isEmpty else { return 0 }
        let statement = try database.cachedStatement(
            sql: "SELECT name, tag FROM grdb_cloudkit_record"
        )
        var count = 0
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            if let tag = page[SimulatedDevice.recordName(row[0])], tag == row[1] as String? {
                count += 1
            }
        }
        return count
    }

    /// Handles the end of every transaction of the file.
    func committed(_ database: Database) {
        let (commits, page, before, crash) = state.withLock { state in
            state.commits += 1
            return (state.commits, state.page, state.knownBefore, state.crash)
        }
        if !page.isEmpty, let known = try? Self.known(database, of: page), known != before {
            state.withLock { state in
                if known < page.count {
                    state.problems.append("I21: \(name) shows \(known) of \(page.count) changes")
                }
                state.page = [:]
            }
        }
        switch crash {
        case .afterCommit(commits)?: end(with: try? Self.copy(database))
        case .withoutCommit(commits)?:
            let copy = Self.isDurable(database) ? try? Self.copy(database) : nil
            state.withLock { state in
                state.isDoomed = !state.isDead
                if let copy { state.remains = copy }
            }
        case .withoutCommit(let last)? where last == commits + 1:
            let copy = try? Self.copy(database)
            state.withLock { $0.remains = copy }
        case .withoutCommit(let last)? where last < commits:
            end(with: Self.isDurable(database) ? try? Self.copy(database) : nil)
        default: break
        }
    }

    /// Returns whether transactions wait for the disk.
    private static func isDurable(_ database: Database) -> Bool {
        (try? Int.fetchOne(database, sql: "PRAGMA synchronous")) ?? 2 >= 2
    }

    private func end(with copy: DatabaseQueue?) {
        state.withLock { state in
            guard !state.isDead else { return }
            state.isDead = true
            if let copy { state.remains = copy }
        }
    }
}

/// An observer that reports the transactions of a connection's file.
final class CommitWatch: TransactionObserver, Sendable {
    private weak let way: SimulatedTransport?

    init(_ way: SimulatedTransport) {
        self.way = way
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ database: Database) {}
    func databaseDidCommit(_ database: Database) { way?.committed(database) }
}

/// The steps of a schedule, line by line.
final class SimulationTrace: Sendable {
    private let kept = Mutex<[String]>([])

    func add(_ line: String) { kept.withLock { $0.append(line) } }

    var lines: [String] { kept.withLock { $0 } }

    /// Returns a number that distinguishes bytes.
    static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
        // A loop without a closure for each byte, which would dominate a debug build.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in ContiguousArray(bytes) { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return digest
    }
}
