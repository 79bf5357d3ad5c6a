import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

/// Each test runs in its own process because the environment and its service belong to the whole
/// process: the process of the tests has threads that wait for the other one to end.
@Suite("Connections from the environment", .timeLimit(.minutes(10)))
struct EnvironmentTests {
    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// Replaces all variables of the process's environment that concern CloudKit.
    private static func setEnvironment(_ variables: [String: String]) {
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("CLOUDKIT_") {
            unsetenv(name)
        }
        for (name, value) in variables { setenv(name, value, 1) }
    }

    @Test("A key and its file make credentials that sign, in the container that is named")
    func key() async {
        await #expect(processExitsWith: .success) {
            try await EnvironmentTests.inFolder { folder in
                try await CloudFixture.overHTTP.run { cloud in
                    let file = folder.appendingPathComponent("key.pem")
                    let privateHalf = ServerKey.makePrivateKeyPEM()
                    try Data(privateHalf.utf8).write(to: file)
                    let key = try ServerKey(keyID: "new", privateKeyPEM: privateHalf)
                    let client = try await cloud.client(of: nil)
                    EnvironmentTests.setEnvironment([
                        "CLOUDKIT_URL": client.url, "CLOUDKIT_CONTAINER": client.container,
                        "CLOUDKIT_KEY_ID": try await cloud.addServerKey(key.publicKeyPEM),
                        "CLOUDKIT_PRIVATE_KEY_FILE": file.path,
                    ])
                    let container = CKContainer.default()
                    #expect(container.containerIdentifier == client.container)
                    let record = CKRecord(recordType: "Note")
                    try await container.publicCloudDatabase.save(record)
                    #expect(record.recordChangeTag != nil)
                }
            }
        }
    }

    /// Incomplete settings, and their error messages.
    private static let incomplete: [(variables: [String: String], message: String)] = [
        ([:], "CLOUDKIT_API_TOKEN is not set"),
        (["CLOUDKIT_KEY_ID": "k"], "CLOUDKIT_PRIVATE_KEY_FILE"),
        (
            ["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_PRIVATE_KEY_FILE": "/nowhere"],
            "The file of CLOUDKIT_PRIVATE_KEY_FILE cannot be used"
        ),
        (
            ["CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_ENVIRONMENT": "test"],
            "CLOUDKIT_ENVIRONMENT is test"
        ),
    ]

    @Test("Incomplete settings say what is missing")
    func incomplete() async {
        await #expect(processExitsWith: .success) {
            for (variables, message) in EnvironmentTests.incomplete {
                EnvironmentTests.setEnvironment(variables)
                let error = await expectCKError(.badContainer) {
                    try await CKContainer(identifier: "c").privateCloudDatabase.allRecordZones()
                }
                #expect(error?.localizedDescription.contains(message) == true)
            }
        }
    }

    @Test("A token file's token is newer than the environment's, and containers share it")
    func tokenFile() async {
        await #expect(processExitsWith: .success) {
            try await EnvironmentTests.inFolder { folder in
                try await CloudFixture.overHTTP.run { cloud in
                    let client = try await cloud.client(of: try await cloud.addUser())
                    let file = WebTokenFile(folder.appendingPathComponent("token"))
                    try file.store(client.credentials.webAuthToken)
                    EnvironmentTests.setEnvironment([
                        "CLOUDKIT_URL": client.url, "CLOUDKIT_CONTAINER": client.container,
                        "CLOUDKIT_API_TOKEN": client.credentials.apiToken,
                        "CLOUDKIT_WEB_AUTH_TOKEN": "older",
                        "CLOUDKIT_WEB_AUTH_TOKEN_FILE": file.url.path,
                    ])
                    let first = CKContainer(identifier: client.container)
                    let second = CKContainer(identifier: client.container)
                    #expect(try await first.accountStatus() == .available)
                    _ = try await second.privateCloudDatabase.allRecordZones()
                    try second.signOut()
                    #expect(try await first.accountStatus() == .noAccount)
                    // Signing out leaves nothing for the next run.
                    #expect(file.token == nil)
                }
            }
        }
    }
}
