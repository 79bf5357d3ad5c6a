import CloudKitServerCore
import CloudKitWire
import Crypto
import Foundation
import ServerFixtures
import Testing

@Suite("Rotation and signatures")
struct CredentialTests {
    @Test("Every answer carries a new token; old ones stay good unless rotation is strict")
    func rotation() async throws {
        for isStrict in [false, true] {
            let cloud = try await TestCloud(
                configuration: ServiceConfiguration(rotatesWebTokens: isStrict)
            )
            let ada = try await cloud.addUser()
            var token = ada.token
            for _ in 0..<4 {
                let user = TestCloud.User(user: ada.user, token: token)
                let answer = try await cloud.call("zones/list", as: user)
                #expect(answer.status == 200)
                let next = try #require(answer.headers["X-Apple-CloudKit-Web-Auth-Token"])
                #expect(next != token)
                token = next
            }
            let old = try await cloud.call("zones/list", as: ada)
            #expect(old.status == (isStrict ? 401 : 200))
            let user = TestCloud.User(user: ada.user, token: token)
            let failed = try await cloud.call("records/lookup", as: user, ["records": 5])
            #expect(failed.status == 400)
            #expect(failed.headers["X-Apple-CloudKit-Web-Auth-Token"] != nil)
        }
    }

    /// A signed request as different clients make it.
    struct Signing: Sendable {
        var body = #"{"records":[{"recordName":"a"}]}"#
        var path = "/database/1/\(TestCloud.container)/development/public/records/lookup"
        var query: String?
        var signsQuery = true
        var emptyHash = false
        var offset: Int64 = 0
        var tampered = false
        var status = 200
    }

    @Test(
        "A signature is checked over the request as it came",
        arguments: [
            Signing(), Signing(query: "ckjsBuildVersion=2420"), Signing(offset: -599),
            Signing(offset: 599), Signing(offset: -601, status: 401),
            Signing(offset: 601, status: 401), Signing(tampered: true, status: 401),
            Signing(query: "a=b", signsQuery: false, status: 401),
            Signing(
                body: "",
                path: "/database/1/\(TestCloud.container)/development/public/zones/list",
                emptyHash: true
            ),
            Signing(
                body: "",
                path: "/database/1/\(TestCloud.container)/development/public/zones/list"
            ),
            Signing(
                body: "",
                path: "/database/1/\(TestCloud.container)/development/private/zones/list",
                status: 401
            ),
            Signing(query: "ckAPIToken=x", status: 401),
        ]
    )
    func signature(signing: Signing) async throws {
        let cloud = try await TestCloud()
        let key = P256.Signing.PrivateKey()
        let keyID = try await cloud.service.addServerKey(
            publicKey: key.publicKey.pemRepresentation,
            container: TestCloud.container,
            environment: .development
        )
        #expect(keyID.count == 64)
        let seconds = cloud.clock.milliseconds / 1000 + signing.offset
        let date = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        let body = Data(signing.body.utf8)
        let hash = signing.emptyHash ? "" : Data(SHA256.hash(data: body)).base64EncodedString()
        var target = signing.path
        if let query = signing.query, signing.signsQuery { target += "?" + query }
        let signature = try key.signature(for: Data("\(date):\(hash):\(target)".utf8))
        let response = await cloud.service.respond(
            to: ServiceRequest(
                method: signing.body.isEmpty ? "GET" : "POST",
                path: signing.path,
                query: signing.query,
                headers: [
                    ("x-apple-cloudkit-request-keyid", keyID),
                    ("X-Apple-CloudKit-Request-ISO8601Date", date),
                    (
                        "X-Apple-CloudKit-Request-SignatureV1",
                        signature.derRepresentation.base64EncodedString()
                    ),
                ],
                body: signing.tampered ? body + Data(" ".utf8) : body,
                baseURL: "http://cloud.test"
            )
        )
        #expect(response.status == signing.status)
    }

    @Test("A key that is none is refused")
    func noKey() async throws {
        let cloud = try await TestCloud()
        await #expect(throws: RequestError.self) {
            try await cloud.service.addServerKey(
                publicKey: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                container: TestCloud.container,
                environment: .development
            )
        }
    }
}
