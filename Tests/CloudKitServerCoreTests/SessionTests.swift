import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Sessions and passwords")
struct SessionTests {
    private static let day: Int64 = 24 * 60 * 60

    @Test("A session that is used goes on; one that is not ends when its time is over")
    func sliding() async throws {
        let cloud = try await FixtureCloud(
            configuration: ServiceConfiguration(webTokenSeconds: 10 * 24 * 60 * 60)
        )
        let (ada, bob) = (try await cloud.addUser("Ada"), try await cloud.addUser("Bob"))
        for _ in 0..<10 {
            cloud.clock.advance(seconds: Self.day * 4)
            #expect(try await cloud.call("zones/list", as: ada).status == 200)
        }
        let response = try await cloud.call("zones/list", as: bob)
        #expect((response.status, response.code) == (421, "AUTHENTICATION_REQUIRED"))
        #expect(response.body.redirectURL.text != nil)
        // Cleaning removes the one that has ended, and keeps the other.
        try await cloud.service.clean()
        #expect(try await cloud.call("zones/list", as: ada).status == 200)
        cloud.clock.advance(seconds: Self.day * 11)
        #expect(try await cloud.call("zones/list", as: ada).status == 421)
    }

    @Test("An operator's session lasts for a day and is listed so, whether it is used or not")
    func day() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let session = try await cloud.service.openSession(
            container: FixtureCloud.container,
            environment: .development,
            userRecordName: ada.name
        )
        #expect(session.expires == cloud.clock.milliseconds + Self.day * 1000)
        func isGood() async throws -> Bool {
            let token = try #require(session.webAuthToken)
            let response = try await cloud.send(
                ConformanceRequest(
                    method: "POST",
                    path: "/database/1/\(FixtureCloud.container)/development/private/zones/list",
                    query: "ckAPIToken=\(session.apiToken)"
                        + "&ckWebAuthToken=\(FixtureCloud.escape(token))",
                    body: Data("{}".utf8)
                )
            )
            return response.status == 200
        }
        /// Returns how many credentials end with the session.
        func count() async throws -> Int {
            try await cloud.service.credentials(container: FixtureCloud.container)
                .count { $0.expires == session.expires }
        }
        // Use extends other sessions, and not this one.
        #expect(try await isGood())
        cloud.clock.advance(seconds: Self.day - 10)
        #expect(try await isGood())
        #expect(try await count() == 2)
        cloud.clock.advance(seconds: 20)
        #expect(try await !isGood())
        try await cloud.service.clean()
        #expect(try await count() == 0)
    }

    @Test("A password is kept as a salted hash of scrypt, which costs what is recommended")
    func hash() throws {
        let cost = PasswordHash.Cost.recommended
        #expect(cost.rounds * cost.blockSize * 128 == 32 << 20)
        #expect(cost.parallelism >= 3)
        #expect(ServiceConfiguration().passwordCost == cost)
        let cheap = PasswordHash.Cost(rounds: 16, parallelism: 1)
        let first = try PasswordHash("a password", salt: Array(0..<16), cost: cheap)
        let second = try PasswordHash("a password", salt: Array(1..<17), cost: cheap)
        #expect(first != second)
        #expect(try first.matches("a password") && second.matches("a password"))
        #expect(try !first.matches("A password"))
        let stored = try JSONEncoder().encode(first)
        #expect(stored.firstRange(of: Data("a password".utf8)) == nil)
        #expect(try JSONDecoder().decode(PasswordHash.self, from: stored) == first)
    }

    @Test("A password that is too short is refused, as is one for a second user of one name")
    func refused() async throws {
        var configuration = ServiceConfiguration()
        configuration.passwordCost = .init(rounds: 16, parallelism: 1)
        let cloud = try await FixtureCloud(configuration: configuration)
        let (one, other) = (try await cloud.addUser("Ada B"), try await cloud.addUser("ada b"))
        await #expect(throws: RequestError.self) {
            try await cloud.service.setPassword("short", of: one.user)
        }
        try await cloud.service.setPassword("long enough", of: one.user)
        await #expect(throws: RequestError.self) {
            try await cloud.service.setPassword("long enough", of: other.user)
        }
        try await cloud.service.setPassword(nil, of: one.user)
        try await cloud.service.setPassword("long enough", of: other.user)
    }
}
