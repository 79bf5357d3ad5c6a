import CloudKitServerCore
import CloudKitWire
import Crypto
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Revoking credentials", .overHTTP)
struct RevocationTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser("Ada")
        bob = try await cloud.addUser("Bob")
    }

    private func status(_ user: FixtureCloud.User? = nil) async throws -> Int {
        try await cloud.call("zones/list", user == nil ? .public : .private, as: user).status
    }

    private func meant(_ text: String) async throws -> [ServiceCredential] {
        try await cloud.service.credentials(meantBy: text, container: FixtureCloud.container)
    }

    private func revoke(_ text: String) async throws -> [ServiceCredential] {
        let ids = Set(try await meant(text).map(\.id))
        return try await cloud.service.revoke(ids, container: FixtureCloud.container)
    }

    @Test("A session ends at once with any of its tokens, and others go on")
    func session() async throws {
        let response = try await cloud.call("zones/list", as: ada)
        let name = "x-apple-cloudkit-web-auth-token"
        let next = try #require(response.headers.first { $0.key.lowercased() == name }?.value)
        #expect(try await status(bob) == 200)
        let revoked = try await revoke(next)
        #expect(revoked.map(\.userRecordName) == [ada.name])
        let refused = try await cloud.call("zones/list", as: ada)
        #expect((refused.status, refused.code) == (421, "AUTHENTICATION_REQUIRED"))
        #expect(try await status(bob) == 200)
        #expect(try await revoke(next) == [])
    }

    @Test("With an API token go the sessions that were begun with it")
    func apiToken() async throws {
        let other = try await cloud.service.addAPIToken(
            container: FixtureCloud.container,
            environment: .development
        )
        _ = try await cloud.service.addWebAuthToken(
            user: bob.user,
            apiToken: other,
            environment: .development
        )
        #expect(try await status() == 200)
        #expect(try await status(ada) == 200)
        let revoked = try await revoke(cloud.apiToken)
        #expect(revoked.map(\.kind) == [.apiToken, .webToken, .webToken])
        #expect(try await status() == 401)
        #expect(try await status(ada) == 401)
        let left = try await cloud.service.credentials(container: FixtureCloud.container)
        #expect(left.map(\.userRecordName) == [nil, bob.name])
        // A token with the same text is another token.
        try await cloud.service.addAPIToken(
            cloud.apiToken,
            container: FixtureCloud.container,
            environment: .development
        )
        #expect(try await status() == 200)
        #expect(try await status(ada) == 421)
    }

    @Test("Signing out ends every session, and the user can sign in again")
    func everySession() async throws {
        let production = try await cloud.service.addAPIToken(
            container: FixtureCloud.container,
            environment: .production
        )
        _ = try await cloud.service.addWebAuthToken(
            user: ada.user,
            apiToken: production,
            environment: .production
        )
        #expect(try await status(ada) == 200)
        let ended = try await cloud.service.endSessions(of: ada.user)
        #expect(Set(ended.map(\.environment)) == [.development, .production])
        #expect(try await status(ada) == 421)
        #expect(try await status(bob) == 200)
        let token = try await cloud.service.addWebAuthToken(
            user: ada.user,
            apiToken: cloud.apiToken,
            environment: .development
        )
        #expect(try await status(FixtureCloud.User(user: ada.user, token: token)) == 200)
    }

    @Test("A credential is meant by its first digits, by a key's identifier, and by no less")
    func names() async throws {
        let keyID = try await cloud.service.addServerKey(
            publicKey: P256.Signing.PrivateKey().publicKey.pemRepresentation,
            container: FixtureCloud.container,
            environment: .production
        )
        let key = try #require(try await meant(keyID).first)
        #expect(key.kind == .serverKey && key.environment == .production)
        #expect(try await meant(String(key.id.prefix(8))) == [key])
        #expect(try await meant(key.id.uppercased()) == [key])
        for text in [String(key.id.prefix(7)), "", String(keyID.prefix(12)), "158__54__x"] {
            #expect(try await meant(text) == [], "\(text)")
        }
        #expect(try await revoke(keyID) == [key])
        #expect(try await meant(keyID) == [])
    }

    @Test("Credentials of another container are not touched")
    func containers() async throws {
        let token = try await cloud.service.addAPIToken(
            container: "iCloud.other",
            environment: .development
        )
        #expect(try await meant(token) == [])
        let other = try await cloud.service.credentials(container: "iCloud.other")
        let ids = Set(other.map(\.id))
        #expect(ids.count == 1)
        #expect(try await cloud.service.revoke(ids, container: FixtureCloud.container) == [])
        #expect(try await cloud.service.credentials(container: "iCloud.other") == other)
        await #expect(throws: RequestError.self) {
            try await cloud.service.revoke(ids, container: "iCloud.none")
        }
    }
}
