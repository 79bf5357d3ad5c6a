import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// Databases written by each earlier version of the format; `Fixtures/README.md` describes their
/// contents.
@Suite("Files of earlier formats")
struct EarlierFormatTests {
    /// A copy of a database, opened by the current service.
    private struct Opened {
        let cloud: FixtureCloud
        let ada: FixtureCloud.User
        let bob: FixtureCloud.User
        private let folder: URL

        init(_ name: String) async throws {
            folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "cloud.sqlite")
            try FileManager.default.copyItem(
                at: EarlierFormatTests.formats.appending(path: name),
                to: file
            )
            let cloud = try await FixtureCloud(storage: SQLiteStorage(path: file.path))
            let users = try await cloud.service.users(container: FixtureCloud.container)
            func signIn(_ address: String) async throws -> FixtureCloud.User {
                let user = try #require(users.first { $0.emailAddress == address })
                let token = try await cloud.service.addWebAuthToken(
                    user: user,
                    apiToken: cloud.apiToken,
                    environment: .development
                )
                return FixtureCloud.User(user: user, token: token)
            }
            self.cloud = cloud
            ada = try await signIn("ada@example.com")
            bob = try await signIn("bob@example.com")
        }

        func end() { try? FileManager.default.removeItem(at: folder) }

        /// Returns the names of the records that a query finds.
        func found(_ field: String, _ comparator: String, _ value: JSON) async throws -> [String] {
            let response = try await cloud.call(
                "records/query",
                as: ada,
                [
                    "zoneID": FixtureCloud.zone("Notes"),
                    "query": [
                        "recordType": "Note",
                        "filterBy": [
                            [
                                "fieldName": .string(field), "comparator": .string(comparator),
                                "fieldValue": ["value": value],
                            ]
                        ],
                    ],
                ]
            )
            #expect(response.status == 200, "\(response.body)")
            return response.records.compactMap(\.recordName.text).sorted()
        }
    }

    private static let formats = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/Formats")

    static let files: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: formats.path))?
        .filter { $0.hasSuffix(".sqlite") }.sorted() ?? []

    @Test("There is a file of every format that has none elsewhere")
    func all() {
        #expect(Self.files.count == 10)
    }

    @Test(
        "Records, feeds, shares and users are what they were, and nothing is amiss",
        arguments: files
    )
    func contents(_ file: String) async throws {
        let opened = try await Opened(file)
        defer { opened.end() }
        let (cloud, ada, bob) = (opened.cloud, opened.ada, opened.bob)
        try await cloud.service.updateIndexes()
        #expect(try await cloud.service.check().findings == [])

        let fields = try await cloud.lookUp(["all"], as: ada).records[0].fields
        #expect(fields.title.value == "All kinds")
        #expect(fields.share.value == .double(0.25))
        #expect(fields.when.value == .int(1_767_225_600_000))
        #expect(fields.data.value == "AAEC")
        #expect(fields.place.value.latitude == .double(47.4))
        #expect(fields.tags.value == ["a", "b"])
        #expect(fields.numbers.value == [1, 2, 3])
        #expect(try await opened.found("title", "EQUALS", "Child") == ["child"])
        #expect(try await opened.found("count", "GREATER_THAN", 6) == ["all", "root"])
        #expect(try await opened.found("title", "EQUALS", "x") == [])

        let records = try await cloud.changes(as: ada).records.elements
        let deleted = records.filter { $0.deleted == .bool(true) }.compactMap(\.recordName.text)
        #expect(deleted == ["deleted"])
        let names = Set(records.compactMap(\.recordName.text))
        #expect(names.isSuperset(of: ["all", "root", "child", "the-share", "deleted"]))
        let zones = try await cloud.call("zones/list", as: ada, method: "GET").body.zones.elements
        #expect(Set(zones.map(\.zoneID.zoneName)) == ["Notes", "_defaultZone"])

        let shared: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let theirs = try await cloud.call(
            "records/lookup",
            .shared,
            as: bob,
            ["zoneID": shared, "records": [["recordName": "child"]]]
        )
        #expect(theirs.records.first?.fields.title.value == "Child", "\(theirs.body)")
    }

    @Test("Rules hold for what was there before: references, indexes, deletions", arguments: files)
    func rules(_ file: String) async throws {
        let opened = try await Opened(file)
        defer { opened.end() }
        let (cloud, ada) = (opened.cloud, opened.ada)
        let city = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [FixtureCloud.note("forceDelete", "zurich", type: "City")]
        )
        #expect(city.records.first?.serverErrorCode == .null, "\(city.body)")
        // Ada's street is deleted with her city, another user's stays.
        let streets = try await cloud.lookUp(
            ["limmat", "bahnhof"],
            in: "_defaultZone",
            as: ada,
            database: .public
        )
        #expect(streets.records[0].serverErrorCode == "NOT_FOUND", "\(streets.body)")
        #expect(streets.records[1].serverErrorCode == .null, "\(streets.body)")

        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceUpdate", "all", ["title": ["value": "Renamed"]])]
        )
        #expect(saved.records.first?.serverErrorCode == .null, "\(saved.body)")
        #expect(try await opened.found("title", "EQUALS", "All kinds") == [])
        #expect(try await opened.found("title", "EQUALS", "Renamed") == ["all"])
        try await cloud.service.updateIndexes()
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A user who was signed in still is")
    func token() async throws {
        let file = "10-sightings.sqlite"
        let opened = try await Opened(file)
        defer { opened.end() }
        let token = try String(
            contentsOf: Self.formats.appending(path: file).deletingPathExtension()
                .appendingPathExtension("token"),
            encoding: .utf8
        )
        let apiToken = String(repeating: "0123456789abcdef", count: 4)
        let response = try await opened.cloud.send(
            ConformanceRequest(
                method: "GET",
                path: "/database/1/\(FixtureCloud.container)/development/public/users/current",
                query: "ckAPIToken=\(apiToken)&ckWebAuthToken=\(FixtureCloud.escape(token))"
            )
        )
        #expect(response.body.userRecordName == .string(opened.ada.name), "\(response.body)")
    }

    @Test(
        "A snapshot that was taken before comes back",
        arguments: ["09-circles.sqlite", "10-sightings.sqlite", "11-contents.sqlite"]
    )
    func snapshot(_ file: String) async throws {
        let opened = try await Opened(file)
        defer { opened.end() }
        let (cloud, ada) = (opened.cloud, opened.ada)
        let late = try await cloud.lookUp(["late", "all"], as: ada).records
        #expect(late[0].fields.title.value == "Late")
        #expect(late[1].fields["count"].value == 43)
        try await cloud.service.restoreSnapshot("kept", of: FixtureCloud.container)
        let records = try await cloud.lookUp(["late", "all"], as: ada).records
        #expect(records[0].serverErrorCode == "NOT_FOUND")
        #expect(records[1].fields["count"].value == 42)
        #expect(try await opened.found("title", "EQUALS", "Child") == ["child"])
        try await cloud.service.updateIndexes()
        #expect(try await cloud.service.check().findings == [])
    }
}
