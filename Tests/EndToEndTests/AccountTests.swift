import CloudKit
import CloudKitExtras
import CloudKitTesting
import Support
import Testing

@Suite("Accounts and connections")
struct AccountTests {
    @Test("Users do not see one another's private data", arguments: CloudFixture.allCases)
    func privacy(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.database(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.database(of: try await cloud.addUser("Bob"))
            let note = CKRecord(recordType: "Note")
            note["title"] = "secret"
            try await ada.save(note)
            await expectCKError(.unknownItem) { try await bob.record(for: note.recordID) }
        }
    }

    @Test(
        "Without a user the private database asks for one, and the account says there is none",
        arguments: CloudFixture.allCases
    )
    func nobody(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let device = try await cloud.device(of: nil)
            #expect(try await device.accountStatus() == .noAccount)
            await expectCKError(.notAuthenticated) {
                _ = try await device.userRecordID()
            }
            await expectCKError(.notAuthenticated) {
                _ = try await device.privateCloudDatabase.allRecordZones()
            }
        }
    }

    @Test(
        "A signed-in user is known by the name of the user's record",
        arguments: CloudFixture.allCases
    )
    func somebody(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let device = try await cloud.device(of: user)
            #expect(try await device.accountStatus() == .available)
            #expect(try await device.userRecordID().recordName == user.recordName)
        }
    }

    @Test("A wrong token is refused", arguments: CloudFixture.allCases)
    func wrongToken(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let client = try await cloud.client(of: try await cloud.addUser())
            for credentials in [
                WebCredentials(apiToken: "0", webAuthToken: client.credentials.webAuthToken),
                WebCredentials(apiToken: client.credentials.apiToken, webAuthToken: "forged-token"),
            ] {
                let device = CKContainer(
                    client: WebClient(
                        url: client.url,
                        container: client.container,
                        environment: client.environment,
                        credentials: credentials,
                        transport: client.transport
                    )
                )
                await expectCKError(.notAuthenticated) {
                    _ = try await device.privateCloudDatabase.allRecordZones()
                }
            }
        }
    }

    @Test(
        "A container that the service does not know: badContainer",
        arguments: CloudFixture.allCases
    )
    func unknownContainer(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let client = try await cloud.client(of: try await cloud.addUser())
            let device = CKContainer(
                client: WebClient(
                    url: client.url,
                    container: "iCloud.unknown",
                    environment: client.environment,
                    credentials: client.credentials,
                    transport: client.transport
                )
            )
            await expectCKError(.badContainer) {
                _ = try await device.privateCloudDatabase.allRecordZones()
            }
            await expectCKError(.badContainer) {
                _ = try await device.publicCloudDatabase.record(for: CKRecord.ID(recordName: "n"))
            }
        }
    }

    @Test("A server that is not there is a network error that names the address")
    func noServer() async throws {
        let device = CKContainer(
            client: WebClient(
                url: "http://127.0.0.1:1",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "b")
            )
        )
        let error = await #expect(throws: CKError.self) {
            _ = try await device.privateCloudDatabase.allRecordZones()
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.localizedDescription.contains("http://127.0.0.1:1") == true)
    }

    @Test("A container that nothing configures says what to set")
    func unconfigured() async {
        let error = await #expect(throws: CKError.self) {
            _ = try await CKContainer(identifier: "iCloud.none").privateCloudDatabase
                .allRecordZones()
        }
        #expect(error?.code == .badContainer)
        #expect(error?.localizedDescription.contains("CLOUDKIT_API_TOKEN") == true)
    }
}
