import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// A database that the version before this format of index keys wrote, with a snapshot: each of the
/// zones A and B contains the notes `same`, `other` and `third`.
@Suite("Files with index keys of an older form")
struct IndexFormTests {
    private let cloud: FixtureCloud
    private let ada: FixtureCloud.User
    private let folder: URL

    init() async throws {
        try await self.init(file: "old-index-keys.sqlite")
    }

    /// Opens a copy of a database.
    private init(file name: String) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "cloud.sqlite")
        let old = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/\(name)")
        try FileManager.default.copyItem(at: old, to: file)
        cloud = try await FixtureCloud(storage: SQLiteStorage(path: file.path))
        let user = try #require(
            try await cloud.service.users(container: FixtureCloud.container).first
        )
        let token = try await cloud.service.addWebAuthToken(
            user: user,
            apiToken: cloud.apiToken,
            environment: .development
        )
        ada = FixtureCloud.User(user: user, token: token)
    }

    private static func reference(_ name: String, _ zone: String?) -> JSON {
        guard let zone else { return ["recordName": .string(name)] }
        return ["recordName": .string(name), "zoneID": ["zoneName": .string(zone)]]
    }

    /// Returns the results of a query of all zones, as `zone/name`.
    private func found(_ filters: [JSON], sort: [JSON] = []) async throws -> [String] {
        let response = try await cloud.call(
            "records/query",
            as: ada,
            [
                "zoneWide": true,
                "query": [
                    "recordType": "Note", "filterBy": .array(filters), "sortBy": .array(sort),
                ],
            ]
        )
        #expect(response.status == 200, "\(response.body)")
        return response.records.map {
            "\($0.zoneID.zoneName.text ?? "")/\($0.recordName.text ?? "")"
        }
    }

    private func check() async throws {
        let boss: JSON = [
            "fieldName": "chief", "comparator": "EQUALS",
            "fieldValue": ["value": Self.reference("boss", "A"), "type": "REFERENCE"],
        ]
        #expect(try await found([boss]).sorted() == ["A/other", "A/same", "B/same"])
        let friend: JSON = [
            "fieldName": "friends", "comparator": "LIST_CONTAINS",
            "fieldValue": ["value": Self.reference("x", "B"), "type": "REFERENCE"],
        ]
        #expect(try await found([friend]) == ["B/other"])
        let cafe: JSON = [
            "fieldName": "title", "comparator": "CONTAINS_ALL_TOKENS",
            "fieldValue": ["value": "the CAFE", "type": "STRING"],
        ]
        #expect(
            try await found([cafe]).sorted() == ["A/other", "A/same", "B/other", "B/same"]
        )
        let party: JSON = [
            "fieldName": "title", "comparator": "CONTAINS_ANY_TOKENS",
            "fieldValue": ["value": "🎉", "type": "STRING"],
        ]
        #expect(try await found([party]).sorted() == ["A/other", "B/other"])
        let sorted = try await found([], sort: [["fieldName": "title"]])
        // Beyond the bytes of the index, the values decide.
        #expect(Array(sorted.suffix(2)) == ["B/third", "A/third"], "\(sorted)")
        let byChief = try await found([], sort: [["fieldName": "chief"]])
        #expect(byChief.count == 6 && Set(byChief).count == 6, "\(byChief)")
    }

    @Test("Results right before, while and after the keys are written again")
    func update() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await check()
        // A record saved before the update has only the new format, and is found too.
        let saved = try await cloud.modify(
            "B",
            as: ada,
            [
                FixtureCloud.note(
                    "forceUpdate",
                    "third",
                    ["title": ["value": .string(String(repeating: "z", count: 600) + "a")]]
                )
            ]
        )
        #expect(saved.records[0].serverErrorCode == .null, "\(saved.body)")
        try await check()
        try await cloud.service.updateIndexes()
        try await check()
        try await cloud.service.updateIndexes()
        try await check()
    }

    /// The database's notes have the titles `Thé vert`, `The tea`, `à la crème` and `a la carte`;
    /// the version that wrote it had no words in its index for thé and à.
    @Test("Words that are ignored only without their accents are added to the index")
    func accents() async throws {
        try? FileManager.default.removeItem(at: folder)
        let old = try await Self(file: "words-without-accents.sqlite")
        defer { try? FileManager.default.removeItem(at: old.folder) }
        func check(_ line: String) async throws {
            for (words, names) in [
                ("thé", ["green"]), ("THE\u{301} vert", ["green"]), ("the tea", ["black"]),
                ("à", ["milk"]), ("a la", ["milk", "sugar"]),
            ] {
                let found = try await old.found([
                    [
                        "fieldName": "title", "comparator": "CONTAINS_ALL_TOKENS",
                        "fieldValue": ["value": .string(words), "type": "STRING"],
                    ]
                ])
                #expect(
                    Set(found) == Set(names.map { "/\($0)" }),
                    "\(line), \(words)"
                )
            }
        }
        try await check("before")
        try await old.cloud.service.updateIndexes()
        try await check("after")
    }

    @Test("A snapshot of before is brought up to date when it comes back")
    func snapshot() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await cloud.service.updateIndexes()
        try await cloud.service.restoreSnapshot("old", of: FixtureCloud.container)
        try await check()
    }
}
