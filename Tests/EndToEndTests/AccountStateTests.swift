import CloudKit
import CloudKitExtras
import CloudKitTesting
import Foundation
import Support
import Synchronization
import Testing

@Suite("Accounts that cannot be used")
struct AccountStateTests {
    struct State: Sendable, CustomTestStringConvertible {
        let status: CKAccountStatus
        let code: CKError.Code
        /// The error code of a request for the user's record.
        let user: CKError.Code
        var testDescription: String { "\(status)" }
    }

    static let states = [
        State(
            status: .restricted,
            code: .managedAccountRestricted,
            user: .notAuthenticated
        ),
        State(
            status: .temporarilyUnavailable,
            code: .accountTemporarilyUnavailable,
            user: .accountTemporarilyUnavailable
        ),
        State(
            status: .couldNotDetermine,
            code: .accountTemporarilyUnavailable,
            user: .accountTemporarilyUnavailable
        ),
    ]

    /// Runs a closure, and waits until `.CKAccountChanged` was posted.
    private func expectNotice<Success>(
        _ body: () async throws -> Success
    ) async throws -> Success {
        let (notices, notice) = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in notice.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        let success = try await body()
        for await _ in notices { break }
        return success
    }

    @Test(
        "A status that forbids the account fails each request with its code, until it is available",
        .timeLimit(.minutes(10)),
        arguments: CloudFixture.allCases,
        states
    )
    func status(fixture: CloudFixture, state: State) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let script = ScriptedTransport()
            let device = try await cloud.device(of: user, transport: script.over)
            let database = device.privateCloudDatabase
            let record = try await database.save(CKRecord(recordType: "Note"))

            try await expectNotice { try cloud.setAccountStatus(state.status, on: device) }
            let count = script.requests.count
            #expect(try await device.accountStatus() == state.status)
            await expectCKError(state.code) { try await database.record(for: record.recordID) }
            await expectCKError(state.code) { try await database.save(record) }
            await expectCKError(state.code) {
                try await device.sharedCloudDatabase.allRecordZones()
            }
            await expectCKError(state.code) {
                try await device.publicCloudDatabase.record(for: record.recordID)
            }
            await expectCKError(state.code) {
                try await device.shareParticipants(forEmailAddresses: ["a@example.com"])
            }
            await expectCKError(state.user) { try await device.userRecordID() }
            // No request is sent that could not succeed.
            #expect(script.requests.count == count)

            try await expectNotice { try cloud.setAccountStatus(.available, on: device) }
            #expect(try await device.accountStatus() == .available)
            #expect(try await device.userRecordID().recordName == user.recordName)
            #expect(try await database.record(for: record.recordID).recordType == "Note")
        }
    }

    @Test(
        "Other devices of the user are as before; the next sign-in ends the status",
        arguments: CloudFixture.allCases
    )
    func oneDevice(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
            let phone = try await cloud.device(of: ada)
            let laptop = try await cloud.device(of: ada)
            try cloud.setAccountStatus(.restricted, on: phone)
            #expect(try await laptop.accountStatus() == .available)
            _ = try await laptop.privateCloudDatabase.allRecordZones()
            try await cloud.signIn(bob, on: phone)
            #expect(try await phone.accountStatus() == .available)
            #expect(try await phone.userRecordID().recordName == bob.recordName)
        }
    }

    @Test("The status noAccount signs out, as CloudKitExtras does without a test's cloud")
    func noAccount() async throws {
        let cloud = try await TestCloud.ofRun()
        let device = try await cloud.device(of: try await cloud.addUser())
        try device.setAccountStatus(.temporarilyUnavailable)
        #expect(try await device.accountStatus() == .temporarilyUnavailable)
        try device.setAccountStatus(.noAccount)
        #expect(try await device.accountStatus() == .noAccount)
        await expectCKError(.notAuthenticated) {
            try await device.privateCloudDatabase.allRecordZones()
        }
        await expectCKError(.badContainer) {
            try CKContainer(identifier: "iCloud.none").setAccountStatus(.restricted)
        }
    }

    @Test("The status available after noAccount signs the same user in again, or says what to call")
    func availableAgain() async throws {
        let cloud = try await TestCloud.ofRun()
        let user = try await cloud.addUser()
        let device = try await cloud.device(of: user)
        try device.setAccountStatus(.noAccount)
        try device.setAccountStatus(.noAccount)
        try device.setAccountStatus(.available)
        #expect(try await device.accountStatus() == .available)
        #expect(try await device.userRecordID().recordName == user.recordName)
        let signedOut = try await cloud.device(of: user)
        try cloud.signOut(of: signedOut)
        do {
            try signedOut.setAccountStatus(.available)
            Issue.record("Nobody is signed in")
        } catch let error as CKError {
            #expect(error.code == .notAuthenticated)
            #expect("\(error)".contains("signIn(webAuthToken:)"))
        }
    }

    @Test(
        "An account that the service refuses has the status of the code, and a notice is posted",
        .timeLimit(.minutes(10)),
        arguments: CloudFixture.allCases,
        [
            (NativeErrorCode.managedAccountRestricted, CKAccountStatus.restricted),
            (.accountTemporarilyUnavailable, .temporarilyUnavailable),
        ]
    )
    func refusedByService(
        fixture: CloudFixture,
        refusal: (code: NativeErrorCode, status: CKAccountStatus)
    ) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser("Ada")
            let phone = try await cloud.device(of: ada)
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            #expect(try await phone.accountStatus() == .available)
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.nativeError(refusal.code), user: ada.recordName)])
            )
            let status = try await expectNotice { try await phone.accountStatus() }
            #expect(status == refusal.status)
            let code = try #require(CKError.Code(rawValue: refusal.code.rawValue))
            await expectCKError(code) { try await phone.privateCloudDatabase.allRecordZones() }
            _ = try await bob.privateCloudDatabase.allRecordZones()
            cloud.setFaults(nil)
            #expect(try await expectNotice { try await phone.accountStatus() } == .available)
            _ = try await phone.privateCloudDatabase.allRecordZones()
        }
    }

    @Test("Without a service to ask, who was signed in still is, and nobody else is determined")
    func unreachable() async throws {
        let cloud = try await TestCloud.ofRun()
        let user = try await cloud.addUser()
        let isCut = Mutex(true)
        let device = try await cloud.device(of: user) { base in
            ScriptedTransport { _, _ in
                guard isCut.withLock({ $0 }) else { return nil }
                throw TransportError(.unreachable, message: "no network")
            }.over(base)
        }
        await expectCKError(.networkUnavailable) { try await device.accountStatus() }
        let (status, code) = await withCheckedContinuation { continuation in
            device.accountStatus { status, error in
                continuation.resume(returning: (status, (error as? CKError)?.code))
            }
        }
        #expect(status == .couldNotDetermine && code == .networkUnavailable)
        isCut.withLock { $0 = false }
        #expect(try await device.accountStatus() == .available)
        isCut.withLock { $0 = true }
        #expect(try await device.accountStatus() == .available)
    }
}
