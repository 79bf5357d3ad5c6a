import CloudKitWebClient
import Crypto
import Foundation
import Support
import Testing

@Suite("Server-to-server keys")
struct ServerKeyTests {
    @Test("A request is signed over its date, its body's hash and its target")
    func signature() async throws {
        let privateKey = P256.Signing.PrivateKey()
        let key = try ServerKey(keyID: "abc", privateKeyPEM: privateKey.pemRepresentation)
        #expect(key.publicKeyPEM == privateKey.publicKey.pemRepresentation)
        let recorder = ScriptedTransport { _, _ in .ok(#"{"records":[]}"#) }
        let client = WebClient(
            url: "http://cloud.invalid",
            container: "iCloud.test",
            environment: .development,
            credentials: WebCredentials(serverKey: key),
            transport: recorder
        )
        _ = try await client.queryRecords(.init(query: .init(recordType: "Note")), in: .public)
        let request = try #require(recorder.requests.first)
        #expect(
            request.url
                == "http://cloud.invalid/database/1/iCloud.test/development/public/records/query"
        )
        #expect(request.headers["X-Apple-CloudKit-Request-KeyID"] == "abc")
        let date = try #require(request.headers["X-Apple-CloudKit-Request-ISO8601Date"])
        #expect(date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        let hash = Data(SHA256.hash(data: request.body ?? Data())).base64EncodedString()
        let path = "/database/1/iCloud.test/development/public/records/query"
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: try #require(
                Data(
                    base64Encoded: request.headers["X-Apple-CloudKit-Request-SignatureV1"] ?? ""
                )
            )
        )
        #expect(
            privateKey.publicKey.isValidSignature(
                signature,
                for: Data("\(date):\(hash):\(path)".utf8)
            )
        )
    }

    @Test("What is no key says how to make one")
    func unreadable() {
        let error = #expect(throws: ServerKey.UnreadableKey.self) {
            try ServerKey(keyID: "abc", privateKeyPEM: "nonsense")
        }
        #expect(error?.description.contains("openssl ecparam") ?? false)
    }
}
