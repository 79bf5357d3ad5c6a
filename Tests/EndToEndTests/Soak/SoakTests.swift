import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

/// Mixed requests of two users while the server is killed and the transport fails; `Scripts/soak`
/// runs 300,000 of them.
@Suite("A long run of two users", .timeLimit(.minutes(600)))
struct SoakTests {
    private static let zone = CKRecordZone.ID(zoneName: "Notes")

    /// The acknowledged saves, and those that must not have been acknowledged.
    private final class Ledger: Sendable {
        private let saved: Mutex<Set<UInt64>>
        private let wrong = Mutex<[String]>([])

        var acknowledged: Set<UInt64> { saved.withLock { $0 } }
        var failures: [String] { wrong.withLock { $0 } }

        /// Allocates its memory immediately because the process's memory is measured.
        init(_ capacity: Int) {
            saved = Mutex(Set(minimumCapacity: capacity))
        }

        /// Returns the stored form of a name: its FNV-1a hash of 8 bytes.
        static func mark(_ name: String) -> UInt64 {
            name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }

        func acknowledge(_ name: String) { saved.withLock { _ = $0.insert(Self.mark(name)) } }
        func forget(_ name: String) { saved.withLock { _ = $0.remove(Self.mark(name)) } }
        func fail(_ text: String) { wrong.withLock { $0.append(text) } }
    }

    private static func device(_ server: SoakServer, _ api: String, _ token: String?) -> CKContainer
    {
        CKContainer(
            client: WebClient(
                url: SoakServer.url,
                container: SoakServer.container,
                environment: .development,
                credentials: WebCredentials(apiToken: api, webAuthToken: token),
                transport: server
            )
        )
    }

    private static func note(_ name: String, _ user: Int) -> CKRecord {
        let note = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zone)
        )
        note["owner"] = user
        return note
    }

    /// Returns whether an error is due to faults and kills.
    private static func passes(_ error: any Error) -> Bool {
        switch (error as? CKError)?.code {
        case .networkFailure, .networkUnavailable, .serviceUnavailable, .serverResponseLost,
            .notAuthenticated, .unknownItem, .zoneNotFound, .assetNotAvailable,
            .serverRecordChanged, .batchRequestFailed, .requestRateLimited:
            true
        case .partialFailure:
            (error as? CKError)?.partialErrorsByItemID?.values.allSatisfy(passes) ?? false
        default: false
        }
    }

    /// Sends one user's calls until enough requests were sent.
    private static func work(
        _ number: Int,
        _ user: Int,
        _ database: CKDatabase,
        _ server: SoakServer,
        _ ledger: Ledger,
        _ enough: Int
    ) async {
        var chance = SeededRandom(seed: UInt64(number))
        func name(_ call: Int) -> String { "user\(user)-\(number)-\(call)" }
        var own: [Int] = []
        var call = 0
        while server.counts.requests < enough {
            call += 1
            let new = name(call)
            do {
                switch Int.random(in: 0..<33, using: &chance) {
                case 0..<8:
                    try await database.save(note(new, user))
                    ledger.acknowledge(new)
                    own.append(call)
                case 8..<12:
                    let names = (0..<5).map { "\(new)-\($0)" }
                    let operation = CKModifyRecordsOperation(
                        recordsToSave: names.map { note($0, user) }
                    )
                    try await withCheckedThrowingContinuation { continuation in
                        operation.modifyRecordsResultBlock = { continuation.resume(with: $0) }
                        database.add(operation)
                    }
                    for name in names { ledger.acknowledge(name) }
                case 12..<16:
                    guard let name = own.randomElement(using: &chance).map(name) else { continue }
                    let record = try await database.record(
                        for: CKRecord.ID(recordName: name, zoneID: zone)
                    )
                    if record["owner"] != user { ledger.fail("\(name) is another's") }
                case 16..<20:
                    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
                    let page = try await database.records(
                        matching: query,
                        inZoneWith: zone,
                        resultsLimit: 20
                    )
                    let foreign = try page.matchResults.filter { try $0.1.get()["owner"] != user }
                    if !foreign.isEmpty { ledger.fail("a query's result") }
                case 20..<24:
                    let changes = try await database.recordZoneChanges(
                        inZoneWith: zone,
                        since: nil,
                        resultsLimit: 20
                    )
                    let foreign = changes.modificationResultsByID.keys
                        .filter { !$0.recordName.hasPrefix("user\(user)-") }
                    if let foreign = foreign.first { ledger.fail("\(foreign.recordName) came") }
                case 24..<28:
                    guard !own.isEmpty else { continue }
                    let name = name(own.removeLast())
                    // It is unknown until the response whether the record was deleted.
                    ledger.forget(name)
                    try await database.deleteRecord(
                        withID: CKRecord.ID(recordName: name, zoneID: zone)
                    )
                case 32:
                    try await savePhoto(new, user, database, ledger)
                default: _ = try await database.allRecordZones()
                }
            } catch {
                if !passes(error) { ledger.fail("\(error)") }
                await Task.yield()
            }
        }
    }

    /// Saves a note with a file of the user, and reads both again.
    private static func savePhoto(
        _ name: String,
        _ user: Int,
        _ database: CKDatabase,
        _ ledger: Ledger
    ) async throws {
        let bytes = Data(repeating: UInt8(user), count: 20_000) + Data(name.utf8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString
        )
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let record = note(name, user)
        record["photo"] = CKAsset(fileURL: file)
        try await database.save(record)
        ledger.acknowledge(name)
        let found = try await database.record(for: record.recordID)
        guard let photo = (found["photo"] as? CKAsset)?.fileURL else {
            ledger.fail("\(name) lost its file")
            return
        }
        if try Data(contentsOf: photo) != bytes { ledger.fail("\(name) has another file") }
    }

    /// Switches users on one device, until enough requests were sent.
    private static func turns(
        _ device: CKContainer,
        _ tokens: [String],
        _ server: SoakServer,
        _ ledger: Ledger,
        _ enough: Int
    ) async {
        var chance = SeededRandom(seed: 99)
        var round = 0
        while server.counts.requests < enough {
            round += 1
            let user = Int.random(in: 0..<tokens.count, using: &chance)
            try? device.signIn(webAuthToken: tokens[user])
            let name = "user\(user)-turn-\(round)"
            await withCheckedContinuation { continuation in
                let count = Mutex(0)
                let ended = Ended(count) { continuation.resume() }
                for part in 0..<4 {
                    let record = note("\(name)-\(part)", user)
                    device.privateCloudDatabase.save(record) { saved, error in
                        if saved != nil { ledger.acknowledge("\(name)-\(part)") }
                        if let error, !passes(error) { ledger.fail("\(error)") }
                        ended.add(of: 4)
                    }
                    if part == 2, round.isMultiple(of: 3) {
                        try? device.signIn(webAuthToken: tokens[1 - user])
                        try? device.signIn(webAuthToken: tokens[user])
                    }
                }
            }
        }
    }

    private final class Ended: Sendable {
        private let count: Mutex<Int>
        private let done: @Sendable () -> Void

        init(_ count: consuming sending Mutex<Int>, _ done: @escaping @Sendable () -> Void) {
            self.count = count
            self.done = done
        }

        func add(of all: Int) {
            let isLast = count.withLock { count in
                count += 1
                return count == all
            }
            if isLast { done() }
        }
    }

    /// Returns the names of all records of a user.
    private static func names(_ database: CKDatabase) async throws -> Set<String> {
        var names: Set<String> = []
        var token: CKServerChangeToken?
        var isMore = true
        while isMore {
            do {
                let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
                names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
                (token, isMore) = (page.changeToken, page.moreComing)
            } catch  where passes(error) {
                continue
            }
        }
        return names
    }

    @Test(
        "Nothing that was acknowledged is lost, nothing comes to the other user, nothing piles up"
    )
    func soak() async {
        // In its own process, whose memory is the client's.
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent]
        ) {
            try await SoakTests.run()
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
    }

    /// Performs the whole run, in a process that contains only the client.
    private static func run() async throws {
        ProcessMetrics.forgetThrownErrors()
        let variables = ProcessInfo.processInfo.environment
        let enough = variables["SOAK_REQUESTS"].flatMap { Int($0) } ?? 1_500
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = SoakServer(folder: folder, seed: 1)
        let (api, tokens) = try await server.start(users: 2)
        let databases = tokens.map { device(server, api, $0).privateCloudDatabase }
        for database in databases {
            while (try? await database.save(CKRecordZone(zoneID: zone))) == nil {}
        }
        let ledger = Ledger(enough)
        var report: [String] = []
        var early: ProcessMetrics?
        var worst: (threads: Int, descriptors: Int) = (0, 0)
        await withTaskGroup { group in
            for number in 0..<16 {
                group.addTask {
                    let user = number % 2
                    await work(number, user, databases[user], server, ledger, enough)
                }
            }
            group.addTask {
                let device = Self.device(server, api, nil)
                await turns(device, tokens, server, ledger, enough)
            }
            // Ten parts, between which the server is killed.
            for part in 1...10 {
                while server.counts.requests < enough * part / 10 {
                    try? await DeadlineClock().sleep(for: .milliseconds(20))
                    guard let figures = ProcessMetrics() else { continue }
                    worst.threads = max(worst.threads, figures.threads)
                    worst.descriptors = max(worst.descriptors, figures.descriptors)
                }
                if part < 10 {
                    await server.kill()
                    await #expect(throws: Never.self) { try await server.start(users: 2) }
                }
                if let figures = ProcessMetrics() {
                    report.append("\(server.counts.requests) requests: \(figures)")
                    if part == 2 { early = figures }
                }
            }
            await group.waitForAll()
        }
        let counts = server.counts
        // Before the test itself fills the memory with its results.
        let late = ProcessMetrics()
        report.append(
            "\(counts.faults) faults, \(counts.kills) kills, \(ledger.acknowledged.count) "
                + "records acknowledged; at most \(worst.threads) threads, \(worst.descriptors) descriptors"
        )
        if variables["SOAK_REQUESTS"] != nil { print(report.joined(separator: "\n")) }
        #expect(ledger.failures.isEmpty, "\(ledger.failures.prefix(3))")
        var found: Set<UInt64> = []
        for (user, database) in databases.enumerated() {
            let names = try await Self.names(database)
            #expect(names.allSatisfy { $0.hasPrefix("user\(user)-") })
            found.formUnion(names.map(Ledger.mark))
        }
        #expect(ledger.acknowledged.subtracting(found).isEmpty)
        #expect(!ledger.acknowledged.isEmpty && counts.kills == 9)
        // A short run ends before the process has reached its working size.
        if enough >= 20_000, let early, let late {
            #expect(late.megabytes / early.megabytes <= 1.3, "\(report)")
            #expect(worst.threads <= 64, "\(report)")
            #expect(late.descriptors <= early.descriptors + 64, "\(report)")
        }
        await server.kill()
    }
}
