import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Fields that an import drops")
struct DroppedFieldTests {
    /// Imports the schema without some fields of the type `Note`.
    private static func drop(_ names: String..., of cloud: FixtureCloud) async throws {
        let text = try await cloud.service.exportSchema(
            container: FixtureCloud.container,
            environment: .development
        )
        var isNote = false
        let lines = text.split(separator: "\n").filter { line in
            if line.hasPrefix("RECORD TYPE") { isNote = line.hasPrefix("RECORD TYPE Note ") }
            return !isNote || !names.contains { line.hasPrefix("    \($0) ") }
        }
        let changes = try await cloud.service.importSchema(
            lines.joined(separator: "\n"),
            container: FixtureCloud.container,
            environment: .development
        )
        // Others may have made more fields meanwhile.
        try #require(changes.count >= names.count && changes.allSatisfy(\.losesData), "\(changes)")
    }

    /// Returns the names of the records that a query finds in the zone `Notes`.
    private static func found(
        _ query: JSON,
        _ cloud: FixtureCloud,
        as user: FixtureCloud.User
    ) async throws -> [String] {
        let body: JSON = ["zoneID": FixtureCloud.zone("Notes"), "query": query]
        let response = try await cloud.call("records/query", as: user, body)
        #expect(response.status == 200, "\(response.body)")
        return response.records.compactMap(\.recordName.text)
    }

    @Test("Their values go, from records, indexes, assets and references, as every device sees")
    func everywhere() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        for zone in ["Notes", "More"] { try await cloud.addZone(zone, as: ada) }
        let photo = try await cloud.upload(Data("picture".utf8), for: "a", as: ada)
        let target: JSON = ["value": ["recordName": "t", "action": "DELETE_SELF"]]
        let saved = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("create", "t"),
                FixtureCloud.note(
                    "create",
                    "a",
                    [
                        "title": ["value": "tea"], "tags": ["value": ["x", "y"]], "photo": photo,
                        "target": target,
                    ]
                ),
                FixtureCloud.note("create", "b", ["title": ["value": "milk"]]),
                FixtureCloud.note("create", "o", ["tags": ["value": ["x"]]], type: "Other"),
            ]
        )
        try #require(saved.records.allSatisfy { $0.serverErrorCode == nil }, "\(saved.body)")
        _ = try await cloud.modify("More", as: ada, [FixtureCloud.note("create", "c")])
        let before = try await cloud.changes(as: ada)
        let zones = try await cloud.call("changes/database", as: ada).body
        let size = try await cloud.service.bytesUsed(by: ada.user, environment: .development)

        try await Self.drop("tags", "photo", "target", of: cloud)

        #expect(try await cloud.service.check().findings == [])
        let after = try await cloud.changes(as: ada, after: before.syncToken)
        // Only it had values; the field of the same name in another type stays.
        #expect(after.records.elements.map(\.recordName) == ["a"])
        let (old, new) = (saved.records[1], after.records[0])
        #expect(new.fields.keys == ["title"])
        #expect(new.recordChangeTag != old.recordChangeTag)
        #expect(new.modified == old.modified)
        #expect(
            try await cloud.call("changes/database", as: ada, ["syncToken": zones.syncToken])
                .body.zones.elements.map(\.zoneID.zoneName) == ["Notes"]
        )
        let read = try await cloud.lookUp(["a", "o"], as: ada)
        #expect(read.records.map(\.fields.keys) == [["title"], ["tags"]])
        let less = try await cloud.service.bytesUsed(by: ada.user, environment: .development)
        #expect(less < size)
        // A device that has the version from before meets a conflict.
        let late = FixtureCloud.note("update", "a", tag: old.recordChangeTag)
        #expect(try await cloud.modify(as: ada, [late]).records[0].serverErrorCode == "CONFLICT")
        let gone = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "t")])
        #expect(gone.records[0].deleted.isTrue)
        #expect(try await cloud.lookUp(["a"], as: ada).records[0].fields.title.value == "tea")
        cloud.outliveFiles()
        try await cloud.service.clean()
        #expect(try await cloud.assets.open(Self.checksum(old.fields.photo)) == nil)
    }

    private static func checksum(_ asset: JSON) throws -> [UInt8] {
        let text = try #require(asset.value.fileChecksum.text)
        return Array(try #require(Data(base64Encoded: text)))
    }

    @Test("A name that comes back with another type has none of the former values")
    func anotherType() async throws {
        for isImported in [false, true] {
            let cloud = try await FixtureCloud()
            let ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
            let texts: JSON = ["tags": ["value": ["x", "y"]]]
            _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a", texts)])
            try await Self.drop("tags", of: cloud)
            if isImported {
                let text = try await cloud.service.exportSchema(
                    container: FixtureCloud.container,
                    environment: .development
                )
                _ = try await cloud.service.importSchema(
                    text.replacing(
                        "GRANT",
                        with: "tags INT64 QUERYABLE SORTABLE,\n    GRANT",
                        maxReplacements: 1
                    ),
                    container: FixtureCloud.container,
                    environment: .development
                )
            }
            let number: JSON = ["tags": ["value": 5]]
            let saved = try await cloud.modify(as: ada, [FixtureCloud.note("create", "b", number)])
            #expect(saved.records[0].serverErrorCode == nil, "\(saved.body)")
            #expect(try await cloud.service.check().findings == [])
            let five: JSON = [
                "recordType": "Note",
                "filterBy": [
                    ["fieldName": "tags", "comparator": "EQUALS", "fieldValue": ["value": 5]]
                ],
            ]
            #expect(try await Self.found(five, cloud, as: ada) == ["b"])
            let sorted: JSON = ["recordType": "Note", "sortBy": [["fieldName": "tags"]]]
            #expect(try await Self.found(sorted, cloud, as: ada) == ["a", "b"])
            let update = FixtureCloud.note("forceUpdate", "a", number)
            #expect(try await cloud.modify(as: ada, [update]).records[0].serverErrorCode == nil)
            #expect(try await cloud.service.check().findings == [])
        }
    }

    @Test(
        "More records than a commit takes lose them, and so do those that are saved meanwhile",
        arguments: [false, true]
    )
    func meanwhile(schemaGrows: Bool) async throws {
        let storage = BusyStorage(try SQLiteStorage(path: nil))
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let fields: JSON = ["title": ["value": "tea"], "old": ["value": 1]]
        let names = (0..<250).map { "n\($0)" }
        for start in stride(from: 0, to: names.count, by: 125) {
            let batch = names[start..<start + 125].map {
                FixtureCloud.note("create", $0, fields)
            }
            #expect(try await cloud.modify(as: ada, batch).status == 200)
        }
        // Before each commit of the import somebody saves, with a new field before the last.
        let commits = Mutex(0)
        storage.interrupt { isLast in
            let number = commits.withLock { count in
                count += 1
                return count
            }
            var fields: [String: JSON] = ["old": ["value": 2]]
            if isLast, schemaGrows { fields["newest"] = ["value": 3] }
            let save = FixtureCloud.note("forceUpdate", "n\(number)", .object(fields))
            let create = FixtureCloud.note("create", "m\(number)", .object(fields))
            // What fails here has no fields that could be found.
            _ = try? await cloud.modify(as: ada, [save, create])
        }
        try await Self.drop("old", of: cloud)
        storage.interrupt(nil)
        // That of the container, three at least of the records, and that of the schema.
        let count = commits.withLock { $0 }
        #expect(count >= 5)
        #expect(try await cloud.service.check().findings == [])
        var token: JSON = .null
        var seen: [String: Set<String>] = [:]
        var page: JSON
        repeat {
            page = try await cloud.changes(as: ada, after: token)
            for record in page.records.elements {
                seen[record.recordName.text ?? ""] = record.fields.keys
            }
            token = page.syncToken
        } while page.moreComing.isTrue
        #expect(seen.count == names.count + count)
        #expect(seen.values.allSatisfy { $0.isSubset(of: ["title"]) })
    }

    /// Drops a field as earlier versions did: from the schema and its index alone.
    private static func dropOnly(_ name: String, _ storage: any Storage) async throws {
        try await storage.write { writer in
            for environment in try writer.environments() {
                guard let data = try writer.schema(environment.id),
                    var schema = try JSONSerialization.jsonObject(with: data) as? [String: Any],
                    var types = schema["types"] as? [String: [String: Any]],
                    var fields = types["Note"]?["fields"] as? [String: [String: Any]],
                    let number = fields.removeValue(forKey: name)?["number"] as? Int64
                else { continue }
                types["Note"]?["fields"] = fields
                schema["types"] = types
                try writer.setSchema(
                    environment.id,
                    version: environment.id.rawValue + 1000,
                    JSONSerialization.data(withJSONObject: schema)
                )
                for index in [2 * number, 2 * number + 1] {
                    try writer.removeEntries(index: index, environment.id)
                    try writer.removeEntries(index: -index, environment.id)
                }
            }
        }
    }

    @Test(
        "A repair removes what earlier versions left of dropped fields, as every device sees",
        arguments: [nil, "STRING", "REFERENCE"]
    )
    func repair(laterType: String?) async throws {
        let storage = try SQLiteStorage(path: nil)
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let photo = try await cloud.upload(Data("picture".utf8), for: "a", "tags", as: ada)
        let value: JSON = laterType == nil ? photo : ["value": 7]
        let fields: JSON = ["title": ["value": "tea"], "tags": value]
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "a", fields), FixtureCloud.note("create", "t")]
        )
        try #require(saved.records.allSatisfy { $0.serverErrorCode == nil }, "\(saved.body)")
        let before = try await cloud.changes(as: ada)
        try await Self.dropOnly("tags", storage)
        let service = cloud.service
        if let laterType {
            let text = try await service.exportSchema(
                container: FixtureCloud.container,
                environment: .development
            )
            _ = try await service.importSchema(
                text.replacing(
                    "GRANT",
                    with: "tags \(laterType) QUERYABLE SORTABLE,\n    GRANT",
                    maxReplacements: 1
                ),
                container: FixtureCloud.container,
                environment: .development
            )
        }
        let found = try await service.check().findings
        #expect(found.contains { $0.record == "a" && $0.problem.contains("'tags'") }, "\(found)")
        #expect(found.allSatisfy { $0.isDerived && $0.record == "a" }, "\(found)")
        #expect(try await service.check(repairs: true).isGood)
        #expect(try await service.check().findings == [])
        let after = try await cloud.changes(as: ada, after: before.syncToken)
        #expect(after.records.elements.map(\.recordName) == ["a"])
        #expect(after.records[0].fields.keys == ["title"])
    }

    @Test("A repair leaves what it does not know in production, where no field is dropped")
    func production() async throws {
        let storage = try SQLiteStorage(path: nil)
        let cloud = try await FixtureCloud(environment: .production, storage: storage)
        _ = try await cloud.service.importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING, tags INT64 QUERYABLE);",
            container: FixtureCloud.container,
            environment: .production
        )
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let note = FixtureCloud.note("create", "a", ["tags": ["value": 7]])
        #expect(try await cloud.modify(as: ada, [note]).records[0].serverErrorCode == nil)
        try await Self.dropOnly("tags", storage)
        let report = try await cloud.service.check(repairs: true)
        #expect(report.findings.map(\.record) == ["a"] && !report.isGood, "\(report.findings)")
        #expect(try await cloud.lookUp(["a"], as: ada).records[0].fields.tags.value == 7)
    }
}

/// A storage in which something happens before each commit, as beside other users.
private final class BusyStorage: WrappingStorage {
    let base: SQLiteStorage
    private let interruption = Mutex<(@Sendable (_ isLast: Bool) async -> Void)?>(nil)

    init(_ base: SQLiteStorage) { self.base = base }

    /// Sets what happens before each commit, but for commits that it makes itself.
    func interrupt(_ body: (@Sendable (_ isLast: Bool) async -> Void)?) {
        interruption.withLock { $0 = body }
    }

    private func interrupt(isLast: Bool) async {
        let body = interruption.withLock { body in
            defer { body = nil }
            return body
        }
        guard let body else { return }
        await body(isLast)
        interruption.withLock { $0 = body }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        await interrupt(isLast: false)
        return try await base.write(body)
    }

    func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        await interrupt(isLast: true)
        return try await base.writeExclusively(body)
    }
}
