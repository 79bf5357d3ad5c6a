import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Crypto
import Foundation
import ServerFixtures
import Testing

@Suite("Rotation and signatures")
struct CredentialTests {
    @Test("Every response carries a new token; old ones stay good unless rotation is strict")
    func rotation() async throws {
        for isStrict in [false, true] {
            let cloud = try await FixtureCloud(
                configuration: ServiceConfiguration(rotatesWebTokens: isStrict)
            )
            let ada = try await cloud.addUser()
            var token = ada.token
            for _ in 0..<4 {
                let user = FixtureCloud.User(user: ada.user, token: token)
                let response = try await cloud.call("zones/list", as: user)
                #expect(response.status == 200)
                let next = try #require(response.headers["X-Apple-CloudKit-Web-Auth-Token"])
                #expect(next != token)
                token = next
            }
            let user = FixtureCloud.User(user: ada.user, token: token)
            let failed = try await cloud.call("records/lookup", as: user, ["records": 5])
            #expect(failed.status == 400)
            #expect(failed.headers["X-Apple-CloudKit-Web-Auth-Token"] != nil)
            let old = try await cloud.call("zones/list", as: ada)
            #expect(old.status == (isStrict ? 401 : 200))
        }
    }

    /// Sends a request with a token; returns the status and the next token.
    private func use(
        _ token: String,
        _ cloud: FixtureCloud,
        _ user: FixtureCloud.User
    ) async throws -> (status: Int, next: String?) {
        let user = FixtureCloud.User(user: user.user, token: token)
        let response = try await cloud.call("zones/list", as: user)
        return (response.status, response.headers["X-Apple-CloudKit-Web-Auth-Token"])
    }

    private func strict() async throws -> (FixtureCloud, FixtureCloud.User, any Storage) {
        let storage = try SQLiteStorage(path: nil)
        let cloud = try await FixtureCloud(
            configuration: ServiceConfiguration(rotatesWebTokens: true),
            storage: storage
        )
        return (cloud, try await cloud.addUser(), storage)
    }

    @Test("A token of which the response got lost is good once more, and so is what came with it")
    func grace() async throws {
        let (cloud, ada, _) = try await strict()
        let lost = try await use(ada.token, cloud, ada)
        let again = try await use(ada.token, cloud, ada)
        #expect(lost.status == 200 && again.status == 200)
        let next = try #require(again.next)
        let third = try await use(next, cloud, ada)
        #expect(third.status == 200)
        #expect(try await use(try #require(third.next), cloud, ada).status == 200)
    }

    @Test("A token that is replayed ends its session, for the thief and for the client, for good")
    func replay() async throws {
        // The thief uses the token once too often, or too late.
        for isLate in [false, true] {
            let (cloud, ada, storage) = try await strict()
            let first = try #require(try await use(ada.token, cloud, ada).next)
            let second: String
            if isLate {
                second = try #require(try await use(first, cloud, ada).next)
            } else {
                let stolen = try await use(ada.token, cloud, ada)
                #expect(stolen.status == 200)
                second = first
            }
            #expect(try await use(ada.token, cloud, ada).status == 401)
            for token in [second, first, ada.token] {
                #expect(try await use(token, cloud, ada).status == 421)
            }
            // It is also invalid for a process that has no record of it.
            let restarted = try await FixtureCloud(
                configuration: ServiceConfiguration(rotatesWebTokens: true),
                storage: storage
            )
            for token in [second, first, ada.token] {
                #expect(try await use(token, restarted, ada).status == 421)
            }
        }
    }

    @Test("A client and a thief who both go on from one lost response end the session")
    func fork() async throws {
        let (cloud, ada, _) = try await strict()
        let one = try #require(try await use(ada.token, cloud, ada).next)
        let other = try #require(try await use(ada.token, cloud, ada).next)
        let next = try #require(try await use(other, cloud, ada).next)
        #expect(try await use(one, cloud, ada).status == 401)
        #expect(try await use(next, cloud, ada).status == 421)
    }

    /// A signed request as different clients create it.
    struct Signing: Sendable {
        var body = #"{"records":[{"recordName":"a"}]}"#
        var path = "/database/1/\(FixtureCloud.container)/development/public/records/lookup"
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
                path: "/database/1/\(FixtureCloud.container)/development/public/zones/list",
                emptyHash: true
            ),
            Signing(
                body: "",
                path: "/database/1/\(FixtureCloud.container)/development/public/zones/list"
            ),
            Signing(
                body: "",
                path: "/database/1/\(FixtureCloud.container)/development/private/zones/list",
                status: 401
            ),
            Signing(query: "ckAPIToken=x", status: 401),
        ]
    )
    func signature(signing: Signing) async throws {
        let cloud = try await FixtureCloud()
        let key = P256.Signing.PrivateKey()
        let keyID = try await cloud.service.addServerKey(
            publicKey: key.publicKey.pemRepresentation,
            container: FixtureCloud.container,
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
        let cloud = try await FixtureCloud()
        await #expect(throws: RequestError.self) {
            try await cloud.service.addServerKey(
                publicKey: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                container: FixtureCloud.container,
                environment: .development
            )
        }
    }
}
