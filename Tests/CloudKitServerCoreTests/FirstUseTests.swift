import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Containers and users that are made on first use")
struct FirstUseTests {
    private static func zones(
        _ cloud: FixtureCloud,
        container: String = FixtureCloud.container,
        environment: String = "development",
        apiToken: String? = nil,
        token: String? = nil,
        user: String? = nil
    ) async throws -> FixtureCloud.Response {
        var query = "ckAPIToken=\(apiToken ?? cloud.apiToken)"
        if let token { query += "&ckWebAuthToken=\(FixtureCloud.escape(token))" }
        return try await FixtureCloud.Response(
            cloud.service.respond(
                to: ServiceRequest(
                    method: "GET",
                    path: "/database/1/\(container)/\(environment)/private/zones/list",
                    query: query,
                    headers: user.map { [("X-CloudKit-User", $0)] } ?? [],
                    baseURL: "http://cloud.test"
                )
            )
        )
    }

    private static func cloud(
        opensContainers: Bool = false,
        acceptsUserNames: Bool = false
    ) async throws -> FixtureCloud {
        var configuration = ServiceConfiguration()
        configuration.opensContainers = opensContainers
        configuration.acceptsUserNames = acceptsUserNames
        return try await FixtureCloud(configuration: configuration)
    }

    @Test("Neither is made unless the configuration says so")
    func offByDefault() async throws {
        let cloud = try await Self.cloud()
        let ada = try await cloud.addUser()
        #expect(
            try await Self.zones(cloud, container: "iCloud.new", token: ada.token).status == 401
        )
        #expect(try await Self.zones(cloud, user: "Bob").status == 421)
        let users = try await cloud.service.users(container: FixtureCloud.container)
        #expect(users.map(\.givenName) == ["Ada"])
        await #expect(throws: RequestError.self) {
            try await cloud.service.resetContainer("iCloud.new")
        }
    }

    @Test("A container that is named for the first time is there, with the caller in it")
    func container() async throws {
        let cloud = try await Self.cloud(opensContainers: true)
        let ada = try await cloud.addUser()
        let response = try await Self.zones(cloud, container: "iCloud.new", token: ada.token)
        #expect(response.status == 200)
        let users = try await cloud.service.users(container: "iCloud.new")
        #expect(users.map(\.userRecordName) == [ada.name])
    }

    @Test(
        "Only good credentials, in their environment, make a container of a fit name",
        arguments: [
            ("iCloud.new", "development", "bad", false), ("iCloud.new", "production", nil, true),
            ("no%2Fname", "development", nil, true), ("%20", "development", nil, true),
        ] as [(String, String, String?, Bool)]
    )
    func refusals(
        container: String,
        environment: String,
        apiToken: String?,
        hasToken: Bool
    ) async throws {
        let cloud = try await Self.cloud(opensContainers: true)
        let ada = try await cloud.addUser()
        let response = try await Self.zones(
            cloud,
            container: container,
            environment: environment,
            apiToken: apiToken,
            token: hasToken ? ada.token : nil
        )
        #expect((400..<500).contains(response.status))
        let name = container.removingPercentEncoding ?? ""
        await #expect(throws: RequestError.self) {
            try await cloud.service.resetContainer(name)
        }
    }

    @Test("A user that is named for the first time is made, and the same one from then on")
    func user() async throws {
        let cloud = try await Self.cloud(acceptsUserNames: true)
        for name in ["Ada Lovelace", " Ada  Lovelace ", "Bob"] {
            #expect(try await Self.zones(cloud, user: name).status == 200)
        }
        let users = try await cloud.service.users(container: FixtureCloud.container)
        #expect(Set(users.map(\.givenName)) == ["Ada", "Bob"])
        #expect(users.count == 2)
        #expect(try await Self.zones(cloud, apiToken: "bad", user: "Eve").status == 401)
        #expect(try await Self.zones(cloud).status == 421)
        #expect(try await cloud.service.users(container: FixtureCloud.container).count == 2)
    }

    @Test("Requests that come together make one container and one user")
    func together() async throws {
        let cloud = try await Self.cloud(opensContainers: true, acceptsUserNames: true)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await Self.zones(cloud, container: "iCloud.new", user: "Ada").status
                }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(try await cloud.service.users(container: "iCloud.new").count == 1)
    }
}
