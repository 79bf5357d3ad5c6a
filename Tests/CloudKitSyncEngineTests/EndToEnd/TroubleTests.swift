import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("An engine and a server in trouble")
struct TroubleTests {
    /// Calls until a call succeeds; gives the errors of those before.
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
            // A batch of 250 goes as requests of 200 and 50: the second one fails.
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
            // The new tokens serve: nothing is read twice.
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
