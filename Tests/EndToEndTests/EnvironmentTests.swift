import CloudKit
import CloudKitWebClient
import Crypto
import Foundation
import Testing

@Suite("Connections from the environment")
struct EnvironmentTests {
    private func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func message(_ variables: [String: String]) -> String {
        do throws(CKError) {
            _ = try CloudConnection.environment(container: "c", variables: variables).client
            return ""
        } catch {
            #expect(error.code == .badContainer)
            return error.localizedDescription
        }
    }

    @Test("A key and its file make credentials that sign")
    func key() throws {
        try inFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            let key = P256.Signing.PrivateKey()
            try Data(key.pemRepresentation.utf8).write(to: file)
            let client = try CloudConnection.environment(
                container: "c",
                variables: ["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_PRIVATE_KEY_FILE": file.path]
            ).client
            #expect(client.credentials.serverKey?.keyID == "k")
            let made = client.credentials.serverKey?.publicKeyPEM
            #expect(made == key.publicKey.pemRepresentation)
        }
    }

    @Test("Incomplete settings say what is missing")
    func incomplete() {
        #expect(message([:]).hasPrefix("CLOUDKIT_API_TOKEN is not set"))
        #expect(message(["CLOUDKIT_KEY_ID": "k"]).contains("CLOUDKIT_PRIVATE_KEY_FILE"))
        #expect(
            message(["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_PRIVATE_KEY_FILE": "/nowhere"])
                .hasPrefix("The file of CLOUDKIT_PRIVATE_KEY_FILE cannot be used")
        )
        #expect(
            message(["CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_ENVIRONMENT": "test"])
                .hasPrefix("CLOUDKIT_ENVIRONMENT is test")
        )
    }

    @Test("A token file's token is newer than the environment's, and containers share it")
    func tokenFile() throws {
        try inFolder { folder in
            let file = WebTokenFile(folder.appendingPathComponent("token"))
            try file.store("newer")
            let variables = [
                "CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_WEB_AUTH_TOKEN": "older",
                "CLOUDKIT_WEB_AUTH_TOKEN_FILE": file.url.path,
            ]
            let first = try CloudConnection.environment(container: "c", variables: variables).client
            let second = try CloudConnection.environment(container: "d", variables: variables)
                .client
            #expect(first.credentials.webAuthToken == "newer")
            #expect(first.credentials === second.credentials)
        }
    }
}
