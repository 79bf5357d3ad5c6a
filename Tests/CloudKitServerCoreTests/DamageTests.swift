import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Records that are damaged on the disk")
struct DamageTests {
    /// Replaces every occurrence of a text in the files of a folder; returns the number.
    private func replace(_ old: String, _ new: String, in folder: URL) throws -> Int {
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(name)
            var data = try Data(contentsOf: file)
            while let range = data.range(of: Data(old.utf8)) {
                data.replaceSubrange(range, with: Data(new.utf8))
                count += 1
            }
            try data.write(to: file)
        }
        return count
    }

    /// One byte that changes a value, and one that makes the text invalid JSON.
    @Test(
        "A flipped byte is an error of that record alone, which the operator sees",
        arguments: [#""FLAPME""#, #""FLIPME "#]
    )
    func flipped(damaged: String) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-damage-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/cloud.sqlite"
        do {
            let cloud = try await FixtureCloud(storage: SQLiteStorage(path: path))
            let ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
            let notes = [("a", "fine"), ("b", "FLIPME"), ("c", "fine")].map { name, text -> JSON in
                FixtureCloud.note(
                    "create",
                    name,
                    ["body": ["value": .string(text)], "n": ["value": 1]]
                )
            }
            let made = try await cloud.modify(as: ada, notes)
            #expect(made.records.allSatisfy { $0.serverErrorCode == nil })
        }
        #expect(try replace(#""FLIPME""#, damaged, in: folder) > 0)
        let cloud = try await FixtureCloud(storage: SQLiteStorage(path: path))
        let known = try #require(await cloud.service.users(container: FixtureCloud.container).first)
        let ada = try await cloud.again(FixtureCloud.User(user: known, token: ""))
        let zone = FixtureCloud.zone("Notes")
        let bodies: [(String, JSON)] = [
            (
                "records/lookup",
                [
                    "zoneID": zone,
                    "records": [["recordName": "a"], ["recordName": "b"], ["recordName": "c"]],
                ]
            ),
            (
                "records/query",
                [
                    "zoneID": zone,
                    "query": [
                        "recordType": "Note",
                        "filterBy": [
                            [
                                "fieldName": "n", "comparator": "EQUALS",
                                "fieldValue": ["value": 1],
                            ]
                        ],
                    ],
                ]
            ),
            ("changes/zone", ["zones": [["zoneID": zone]]]),
        ]
        for (endpoint, body) in bodies {
            let response = await cloud.service.respond(
                to: ServiceRequest(
                    method: "POST",
                    path: "/database/1/\(FixtureCloud.container)/development/private/\(endpoint)",
                    query: "ckAPIToken=\(cloud.apiToken)"
                        + "&ckWebAuthToken=\(FixtureCloud.escape(ada.token))",
                    body: try JSONEncoder().encode(body),
                    baseURL: "http://cloud.test"
                )
            )
            #expect(response.status == 200)
            #expect(response.cause?.contains("corrupt") == true, "\(endpoint)")
            let message = try JSON(response.body)
            let records =
                endpoint == "changes/zone"
                ? message.zones[0].records.elements : message.records.elements
            let codes = records.map { [$0.recordName, $0.serverErrorCode] }
            let expected: [[JSON]] = [["a", nil], ["b", "INTERNAL_ERROR"], ["c", nil]]
            #expect(codes == expected, "\(endpoint)")
        }
        // It cannot be changed in part; a user with all fields may replace it, or delete it.
        let text: JSON = ["body": ["value": "new"]]
        let update = try await cloud.modify(as: ada, [FixtureCloud.note("forceUpdate", "b", text)])
        #expect(update.records[0].serverErrorCode == "INTERNAL_ERROR")
        let whole = try await cloud.modify(as: ada, [FixtureCloud.note("forceReplace", "b", text)])
        #expect(whole.records[0].fields.body.value == "new")
        let found = try await cloud.call("records/query", as: ada, bodies[1].1)
        #expect(found.records.map(\.recordName) == ["a", "c"])
        let deleted = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "b")])
        #expect(deleted.records[0].deleted == true)
    }

    @Test(
        "A damaged record that is replaced or deleted leaves the right sum of its zone's bytes",
        arguments: ["forceReplace", "forceDelete"]
    )
    func bytesOfDamaged(operation: String) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/cloud.sqlite"
        do {
            let cloud = try await FixtureCloud(storage: SQLiteStorage(path: path))
            let ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
            let notes = [("a", "fine"), ("b", "FLIPME")].map { name, text -> JSON in
                FixtureCloud.note("create", name, ["body": ["value": .string(text)]])
            }
            _ = try await cloud.modify(as: ada, notes)
        }
        #expect(try replace(#""FLIPME""#, #""FLAPME""#, in: folder) > 0)
        let cloud = try await FixtureCloud(storage: SQLiteStorage(path: path))
        let known = try #require(await cloud.service.users(container: FixtureCloud.container).first)
        let ada = try await cloud.again(FixtureCloud.User(user: known, token: ""))
        #expect(try await cloud.service.check().findings.map(\.record) == ["b"])
        let fields: JSON = ["body": ["value": "something longer"]]
        let mended = try await cloud.modify(as: ada, [FixtureCloud.note(operation, "b", fields)])
        #expect(mended.records[0].serverErrorCode == nil)
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A repair that could not be committed is not reported as done, and the next one is")
    func uncommittedRepair() async throws {
        let storage = try UncommittingStorage()
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a", ["n": ["value": 1]])])
        try await storage.write { writer in
            for environment in try writer.environments() {
                for zone in try writer.zones(environment.id) {
                    guard let record = try writer.record(zone.id, name: "a") else { continue }
                    try writer.removeEntries(of: record.id, in: zone.id)
                }
            }
        }
        storage.fails.store(true, ordering: .relaxed)
        let failed = try await cloud.service.check(repairs: true)
        #expect(failed.findings.contains { $0.record == "a" && $0.isDerived })
        #expect(!failed.findings.contains { $0.isRepaired })
        #expect(failed.canBeRepaired == false)
        storage.fails.store(false, ordering: .relaxed)
        let repaired = try await cloud.service.check(repairs: true)
        #expect(repaired.findings.map(\.isRepaired) == [true])
        #expect(try await cloud.service.check().findings == [])
    }
}

/// A storage whose file turns out to be damaged when a repair is committed.
private final class UncommittingStorage: WrappingStorage {
    let fails = Atomic(false)
    let base: SQLiteStorage

    init() throws {
        base = try SQLiteStorage(path: nil)
    }

    func writeExclusively<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await base.writeExclusively { [fails = fails.load(ordering: .relaxed)] writer in
            let value = try body(writer)
            if fails {
                throw StorageError(.corrupt, "The file is malformed - while executing COMMIT")
            }
            return value
        }
    }
}
