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
        _ cloud: TestCloud,
        _ name: String,
        _ user: TestCloud.User
    ) async throws -> String? {
        try await cloud.modify(
            "_defaultZone",
            as: user,
            database: .public,
            [TestCloud.note("create", name, type: "Article")]
        ).records[0].serverErrorCode.text
    }

    private func read(_ cloud: TestCloud, _ user: TestCloud.User) async throws -> Int {
        try await cloud.call(
            "records/query",
            .public,
            as: user,
            ["query": ["recordType": "Article"]]
        ).records.count
    }

    @Test("A role lets its users do what the schema grants it, at once and until it is taken away")
    func roles() async throws {
        let cloud = try await TestCloud()
        _ = try await cloud.service.importSchema(
            Self.schema,
            container: TestCloud.container,
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

    @Test("A role that the schema does not have is refused, and so is an unknown user")
    func unknown() async throws {
        let cloud = try await TestCloud()
        let ada = try await cloud.addUser()
        let error = await #expect(throws: RequestError.self) {
            try await cloud.service.setRoles(["boss"], of: ada.user, environment: .development)
        }
        #expect(error?.serverErrorCode == .notFound)
        #expect(error?.reason?.contains("boss") == true)
        var stranger = ada.user
        stranger.userRecordName = "_0"
        await #expect(throws: RequestError.self) {
            _ = try await cloud.service.roles(of: stranger, environment: .development)
        }
    }
}
