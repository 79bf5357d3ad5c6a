import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("An engine and a server in trouble")
struct TroubleTests {
    /// Repeats a call until it succeeds; returns the errors before.
    private func insist(
        _ call: () async throws -> Void
    ) async throws -> [CKError] {
        var errors: [CKError] = []
        for _ in 0..<6 {
            do {
                try await call()
                return errors
            } catch let error as CKError {
                errors.append(error)
            }
        }
        throw try #require(errors.last)
    }

    private static func names(_ count: Int) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", "n\($0)") })
    }

    @Test(
        "What one of a batch's requests suffers concerns the records of that request alone",
        arguments: CloudFixture.allCases,
        ScriptedTransport.Fault.allCases
    )
    func partOfBatch(_ fixture: CloudFixture, _ fault: ScriptedTransport.Fault) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            // A batch of 250 is sent as requests of 200 and 50: the second one fails.
            let container = try await cloud.device(of: ada) {
                ScriptedTransport.failing("records/modify", fault, after: 1, over: $0)
            }
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(Self.names(250))
            let errors = try await insist { try await phone.engine.sendChanges() }
            let items = try #require(errors.first?.partialErrorsByItemID)
            #expect(items.count == 50)
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            let laptop = Contacts(try await cloud.database(of: ada))
            try await laptop.engine.fetchChanges()
            #expect(laptop.list == Self.names(250))
        }
    }

    @Test(
        "A server that throttles is named with the time it asks for, and nothing is lost",
        arguments: CloudFixture.allCases
    )
    func throttling(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let container = try await cloud.device(of: ada) {
                ScriptedTransport.failing("records/modify", .throttled, over: $0)
            }
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(["1": "Ann"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            let item = error.partialErrorsByItemID?[phone.recordID("1")] as? CKError
            #expect(item?.code == .requestRateLimited)
            #expect(item?.retryAfterSeconds == 1)
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
            try await phone.engine.sendChanges()
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(
        "A record whose file the service has lost comes without it, and keeps no other back",
        arguments: CloudFixture.allCases
    )
    func lostFile(_ fixture: CloudFixture) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("photo".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let database = try await cloud.database(of: ada)
            try await database.save(CKRecordZone(zoneID: Contacts.zoneID))
            for name in ["1", "2", "3"] {
                let id = CKRecord.ID(recordName: name, zoneID: Contacts.zoneID)
                let record = CKRecord(recordType: "Contact", recordID: id)
                record["name"] = "n\(name)"
                if name == "2" { record["photo"] = CKAsset(fileURL: file) }
                try await database.save(record)
            }
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.error(.notFound), operation: "assets/fetch")])
            )
            let arrived = Mutex<[String: Bool]>([:])
            let phone = Contacts(try await cloud.database(of: ada)) { _, event, _ in
                guard case .fetchedRecordZoneChanges(let event) = event else { return }
                for record in event.modifications.map(\.record) {
                    let asset = record["photo"] as? CKAsset
                    arrived.withLock {
                        $0[record.recordID.recordName] = asset.map { $0.fileURL == nil } ?? false
                    }
                }
            }
            try await phone.engine.fetchChanges()
            #expect(arrived.withLock { $0 } == ["1": false, "2": true, "3": false])
            #expect(phone.list == Self.names(4).filter { $0.key != "0" })
        }
    }

    @Test(
        "Tokens that expire have all read again, and what went meanwhile is gone",
        arguments: CloudFixture.allCases
    )
    func expiredTokens(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let laptop = Contacts(try await cloud.database(of: ada))
            laptop.save(Self.names(3))
            try await laptop.engine.sendChanges()
            let phone = Contacts(try await cloud.database(of: ada))
            try await phone.engine.fetchChanges()
            #expect(phone.list == Self.names(3))

            try await cloud.expireChangeTokens()
            laptop.save(["0": "changed"])
            try await laptop.engine.sendChanges()
            try await phone.engine.fetchChanges()
            #expect(phone.list["0"] == "changed")
            #expect(phone.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
            // The new tokens work: nothing is read twice.
            let pages = phone.story.filter { $0 == "fetchedRecordZoneChanges" }.count
            try await phone.engine.fetchChanges()
            #expect(phone.story.filter { $0 == "fetchedRecordZoneChanges" }.count == pages)
        }
    }

    @Test(
        "Tokens that expire between two pages have the zone read again",
        arguments: CloudFixture.allCases
    )
    func tokensExpireMeanwhile(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let laptop = Contacts(try await cloud.database(of: ada))
            laptop.save(Self.names(450))
            try await laptop.engine.sendChanges()
            let phone = Contacts(try await cloud.database(of: ada)) { app, event, _ in
                let pages = app.story.filter { $0 == "fetchedRecordZoneChanges" }.count
                guard case .fetchedRecordZoneChanges = event, pages == 1 else { return }
                try? await cloud.expireChangeTokens()
            }
            try await phone.engine.fetchChanges()
            #expect(phone.list == Self.names(450))
            #expect(phone.story.filter { $0 == "willFetchRecordZoneChanges" }.count == 1)
            #expect(phone.story.filter { $0 == "didFetchRecordZoneChanges" }.count == 1)
        }
    }

    @Test(
        "A response to a sending that cannot be read drops nothing, whether it was carried out or not",
        arguments: CloudFixture.allCases,
        ["<html>Sign in to the hotel</html>", "{}", #"{"records":[]}"#, #"{"records":[{"x":1}]}"#]
    )
    func unreadableSending(_ fixture: CloudFixture, _ text: String) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let left = Mutex(2)
            let container = try await cloud.device(of: ada) { base in
                ScriptedTransport { request, _ in
                    guard request.isAbout("records/modify") else { return nil }
                    let number = left.withLock { left in
                        left -= 1
                        return left
                    }
                    guard number >= 0 else { return nil }
                    // The first one does not reach the service, the second one does.
                    if number == 0 { _ = try await base.send(request) }
                    return .ok(text)
                }.over(base)
            }
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(["1": "Ann", "2": "Ben"])
            for _ in 1...2 {
                let error = try await #require(throws: CKError.self) {
                    try await phone.engine.sendChanges()
                }
                let item = error.partialErrorsByItemID?[phone.recordID("1")] as? CKError
                #expect(item?.code == .serverResponseLost)
                #expect(item?.localizedDescription.contains("200") == true)
                #expect(phone.engine.state.pendingRecordZoneChanges.count == 2)
            }
            // Arrived changes are found as the server's own version.
            _ = try await insist { try await phone.engine.sendChanges() }
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
            let laptop = Contacts(try await cloud.database(of: ada))
            try await laptop.engine.fetchChanges()
            #expect(laptop.list == ["1": "Ann", "2": "Ben"])
            #expect(phone.list == laptop.list)
        }
    }

    @Test(
        "A response to a fetch that cannot be read loses nothing: the next fetch brings it all",
        arguments: CloudFixture.allCases,
        ["changes/database", "changes/zone"]
    )
    func unreadableFetch(_ fixture: CloudFixture, _ path: String) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let laptop = Contacts(try await cloud.database(of: ada))
            laptop.save(Self.names(3))
            try await laptop.engine.sendChanges()
            let texts = Mutex(["<html>", "{}", #"{"zones":[{"zoneID":3}]}"#, #"{"zones":[]}"#])
            let container = try await cloud.device(of: ada) {
                ScriptedTransport { request, _ in
                    guard request.isAbout(path) else { return nil }
                    return texts.withLock { $0.isEmpty ? nil : .ok($0.removeFirst()) }
                }.over($0)
            }
            let phone = Contacts(container.privateCloudDatabase)
            let errors = try await insist { try await phone.engine.fetchChanges() }
            #expect(errors.count == 4)
            for error in errors {
                #expect(error.code == .serverResponseLost, "\(error)")
            }
            #expect(phone.list == Self.names(3))
        }
    }

    @Test("An engine that responds to itself tries again after a wait what could not be read")
    func unreadableByItself() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let left = Mutex(3)
            let way = ScriptedTransport { request, _ in
                guard request.isAbout("records/modify") else { return nil }
                return left.withLock { left in
                    left -= 1
                    return left >= 0 ? .ok("<html>") : nil
                }
            }
            let container = try await cloud.device(of: ada, transport: way.over)
            let clock = VirtualClock()
            let environment = SyncEngineEnvironment(clock: clock, chance: { 0 }, log: { _ in })
            let phone = Contacts(
                container.privateCloudDatabase,
                isAutomatic: true,
                service: DatabaseSyncService(
                    container.privateCloudDatabase,
                    environment: environment
                ),
                environment: environment
            )
            phone.save(["1": "Ann"])
            while !phone.engine.state.pendingRecordZoneChanges.isEmpty {
                if let time = clock.next { clock.advance(to: time) }
                await Task.yield()
            }
            #expect(way.requests(about: "records/modify").count == 4)
            // Half a second before each, or more if no other request got through in the meantime.
            #expect(clock.now.time >= .seconds(1.5))
            phone.dropEngine()
        }
    }

    @Test(
        "A user whose sign-in has ended keeps what is pending until it is back",
        arguments: CloudFixture.allCases
    )
    func signInEnds(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let container = try await cloud.device(of: ada) {
                ScriptedTransport.failing("records/modify", .unauthenticated, over: $0)
            }
            let phone = Contacts(container.privateCloudDatabase)
            phone.save(["1": "Ann"])
            let error = try await #require(throws: CKError.self) {
                try await phone.engine.sendChanges()
            }
            let item = error.partialErrorsByItemID?[phone.recordID("1")] as? CKError
            #expect(item?.code == .notAuthenticated)
            #expect(phone.engine.state.pendingRecordZoneChanges.count == 1)
            try await phone.engine.sendChanges()
            #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }
}
