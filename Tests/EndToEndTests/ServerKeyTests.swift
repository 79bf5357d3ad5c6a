import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Support
import Testing

/// Programs without a user, which sign their requests with a key of their own.
@Suite("Server-to-server keys")
struct ServerKeyTests {
    /// Returns a container whose requests a key signs; the service knows this key, or another with
    /// its ID.
    private func program(_ cloud: Cloud, isKnown: Bool = true) async throws -> CKContainer {
        let privateHalf = ServerKey.makePrivateKeyPEM()
        let key = try ServerKey(
            keyID: "new",
            privateKeyPEM: isKnown ? privateHalf : ServerKey.makePrivateKeyPEM()
        )
        let keyID = try await cloud.addServerKey(key.publicKeyPEM)
        let client = try await cloud.client(of: nil)
        return CKContainer(
            client: WebClient(
                url: client.url,
                container: client.container,
                environment: client.environment,
                credentials: WebCredentials(
                    serverKey: try ServerKey(keyID: keyID, privateKeyPEM: privateHalf)
                ),
                transport: client.transport
            )
        )
    }

    private func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
    }

    @Test(
        "A program writes to the public database, reads it, and finds what users wrote there",
        arguments: CloudFixture.allCases
    )
    func publicDatabase(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await program(cloud).publicCloudDatabase
            let (_, ada) = try await cloud.person("Ada")
            let news = note("news")
            news["title"] = "new"
            try await database.save(news)
            news["title"] = "newer"
            try await database.save(news)
            let read = try await ada.publicCloudDatabase.record(for: news.recordID)
            #expect(read["title"] == "newer")
            let author = try #require(read.creatorUserRecordID?.recordName)
            #expect(author != CKCurrentUserDefaultName)

            try await ada.publicCloudDatabase.save(note("letter"))
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            let (matches, _) = try await database.records(matching: query)
            #expect(Set(matches.map(\.0.recordName)) == ["news", "letter"])
            try await database.deleteRecord(withID: news.recordID)
            await expectCKError(.unknownItem) { try await database.record(for: news.recordID) }
        }
    }

    @Test(
        "A program may not change what a user wrote: permissionFailure",
        arguments: CloudFixture.allCases
    )
    func permission(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await program(cloud).publicCloudDatabase
            let (_, ada) = try await cloud.person("Ada")
            try await ada.publicCloudDatabase.save(note("letter"))
            let letter = try await database.record(for: note("letter").recordID)
            letter["title"] = "changed"
            await expectCKError(.permissionFailure) { try await database.save(letter) }
        }
    }

    @Test(
        "A program is no user: it has neither a private nor a shared database",
        arguments: CloudFixture.allCases
    )
    func noUser(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let program = try await program(cloud)
            #expect(try await program.accountStatus() == .noAccount)
            let error = await expectCKError(.notAuthenticated) {
                try await program.userRecordID()
            }
            #expect(error?.localizedDescription.contains("is no user") == true)
            for database in [program.privateCloudDatabase, program.sharedCloudDatabase] {
                await expectCKError(.notAuthenticated) { try await database.allRecordZones() }
            }
        }
    }

    @Test(
        "What another key signed is refused: notAuthenticated",
        arguments: CloudFixture.allCases
    )
    func otherKey(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await program(cloud, isKnown: false).publicCloudDatabase
            await expectCKError(.notAuthenticated) { try await database.save(note("news")) }
            await expectCKError(.notAuthenticated) {
                try await database.record(for: note("news").recordID)
            }
        }
    }
}
