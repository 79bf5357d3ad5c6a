import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("Signing in and out")
struct SignInTests {
    @Test("A container follows its user: out, in, and over to another one")
    func switching() async throws {
        let cloud = try await TestCloud.ofRun()
        let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
        let device = try await cloud.device(of: ada)
        let other = try await cloud.client(of: bob)
        #expect(try await device.userRecordID().recordName == ada.recordName)
        try device.signOut()
        #expect(try await device.accountStatus() == .noAccount)
        await expectCKError(.notAuthenticated) { try await device.userRecordID() }
        try device.signIn(webAuthToken: try #require(other.credentials.webAuthToken))
        #expect(try await device.userRecordID().recordName == bob.recordName)
        #expect(try await device.accountStatus() == .available)
    }

    @Test("The user's identity is requested once for each sign-in, before the first call")
    func asking() async throws {
        try await CloudFixture.overHTTP.run { cloud in
            let script = ScriptedTransport()
            let ada = try await cloud.addUser("Ada")
            let device = try await cloud.device(of: ada, transport: script.over)
            let database = device.privateCloudDatabase
            for round in 1...2 {
                for _ in 0..<5 { _ = try await database.allRecordZones() }
                _ = try await database.save(CKRecord(recordType: "Note"))
                #expect(script.requests(about: "users/caller").count == round)
                #expect(script.requests(about: "records/modify").count == round)
                let token = try device.connection.client.credentials.webAuthToken
                try device.signIn(webAuthToken: try #require(token))
            }
        }
    }

    @Test("Signing in posts CKAccountChanged")
    func notification() async throws {
        let cloud = try await TestCloud.ofRun()
        let device = try await cloud.device(of: try await cloud.addUser("Ada"))
        let log = Log()
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in log.note("changed") }
        try device.signOut()
        NotificationCenter.default.removeObserver(observer)
        #expect(log.all.contains("changed"))
    }

    @Test("A token that the service renewed is kept for the next run, and forgotten on sign-out")
    func persistence() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = WebTokenFile(folder.appendingPathComponent("token"))
        let first = WebCredentials(apiToken: "a", webAuthToken: "first", file: file)
        let client = WebClient(
            url: "http://cloud.invalid",
            container: "c",
            environment: .development,
            credentials: first,
            transport: ScriptedTransport { _, _ in
                TransportResponse(
                    status: 200,
                    headers: ["x-apple-cloudkit-web-auth-token": "second"],
                    body: Data(#"{"userRecordName":"_1"}"#.utf8)
                )
            }
        )
        _ = try await client.caller()
        #expect(first.webAuthToken == "second")
        #expect(file.token == "second")
        let next = WebCredentials(apiToken: "a", webAuthToken: "first", file: file)
        #expect(next.webAuthToken == "second")
        next.signIn(webAuthToken: nil)
        #expect(file.token == nil)
    }
}
