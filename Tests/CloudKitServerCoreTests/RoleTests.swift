import CloudKitServerCore
import CloudKitWire
import ServerFixtures
import Testing

@Suite("Roles that users are given")
struct RoleTests {
    private static let schema = """
        DEFINE SCHEMA
        CREATE ROLE editor;
        CREATE ROLE reader;
        RECORD TYPE Article (title STRING QUERYABLE, "___recordID" REFERENCE QUERYABLE,
            GRANT READ, CREATE, WRITE TO editor, GRANT READ TO reader);
        """

    private func create(
        _ cloud: FixtureCloud,
        _ name: String,
        _ user: FixtureCloud.User
    ) async throws -> String? {
        try await cloud.modify(
            "_defaultZone",
            as: user,
            database: .public,
            [FixtureCloud.note("create", name, type: "Article")]
        ).records[0].serverErrorCode.text
    }

    private func read(_ cloud: FixtureCloud, _ user: FixtureCloud.User) async throws -> Int {
        try await cloud.call(
            "records/query",
            .public,
            as: user,
            ["query": ["recordType": "Article"]]
        ).records.count
    }

    @Test("A role lets its users do what the schema grants it, at once and until it is taken away")
    func roles() async throws {
        let cloud = try await FixtureCloud()
        _ = try await cloud.service.importSchema(
            Self.schema,
            container: FixtureCloud.container,
            environment: .development
        )
        let (ada, bob) = (try await cloud.addUser(), try await cloud.addUser("Bob"))
        #expect(try await create(cloud, "a", ada) == "ACCESS_DENIED")
        try await cloud.service.setRoles(["editor"], of: ada.user, environment: .development)
        #expect(try await create(cloud, "a", ada) == nil)
        #expect(try await create(cloud, "b", bob) == "ACCESS_DENIED")
        #expect(try await read(cloud, bob) == 0)
        try await cloud.service.setRoles(["reader"], of: bob.user, environment: .development)
        #expect(try await read(cloud, bob) == 1)
        #expect(try await create(cloud, "b", bob) == "ACCESS_DENIED")
        let given = try await cloud.service.roles(of: bob.user, environment: .development)
        #expect(given == ["reader"])
        try await cloud.service.setRoles([], of: bob.user, environment: .development)
        #expect(try await read(cloud, bob) == 0)
        // The other environment is unaffected.
        #expect(try await cloud.service.roles(of: ada.user, environment: .production).isEmpty)
    }

    @Test(
        "A role that is removed is taken from its users, who do not get it back with the schema",
        arguments: ["import", "deployment", "reset", "restore"]
    )
    func removed(event: String) async throws {
        let cloud = try await FixtureCloud()
        let (service, container) = (cloud.service, FixtureCloud.container)
        let kind: ServiceEnvironment = event == "deployment" ? .production : .development
        func load(_ schema: String) async throws {
            _ = try await service.importSchema(
                schema,
                container: container,
                environment: .development
            )
            guard kind == .production else { return }
            _ = try await service.deploySchema(container: container)
        }
        try await load("DEFINE SCHEMA CREATE ROLE reader;")
        try await service.takeSnapshot("before", of: container)
        try await load("DEFINE SCHEMA CREATE ROLE editor; CREATE ROLE reader;")
        let ada = try await cloud.addUser()
        try await service.setRoles(["editor", "reader"], of: ada.user, environment: kind)
        switch event {
        case "reset": try await service.resetContainer(container)
        case "restore": try await service.restoreSnapshot("before", of: container)
        default: try await load("DEFINE SCHEMA CREATE ROLE reader;")
        }
        try await load("DEFINE SCHEMA CREATE ROLE editor; CREATE ROLE reader;")
        let left = try await service.roles(of: ada.user, environment: kind)
        #expect(left == (event == "reset" ? [] : ["reader"]))
    }

    @Test("A role that the schema does not have is refused, and so is an unknown user")
    func unknown() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let error = await #expect(throws: RequestError.self) {
            try await cloud.service.setRoles(["boss"], of: ada.user, environment: .development)
        }
        #expect(error?.serverErrorCode == .notFound)
        #expect(error?.reason?.contains("boss") == true)
        let builtIn = await #expect(throws: RequestError.self) {
            try await cloud.service.setRoles(["_world"], of: ada.user, environment: .development)
        }
        #expect(builtIn?.reason?.contains("everyone has") == true)
        var stranger = ada.user
        stranger.userRecordName = "_0"
        await #expect(throws: RequestError.self) {
            _ = try await cloud.service.roles(of: stranger, environment: .development)
        }
    }
}
