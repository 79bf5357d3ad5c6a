import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Tombstones")
struct TombstoneTests {
    let cloud: TestCloud
    let ada: TestCloud.User
    private static let retention: Int64 = 40 * 86_400

    init() async throws {
        var configuration = ServiceConfiguration(webTokenSeconds: 1000 * 86_400)
        configuration.tombstoneSeconds = Self.retention
        cloud = try await TestCloud(configuration: configuration)
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func modify(_ kind: String, _ names: String...) async throws {
        let answer = try await cloud.modify(as: ada, names.map { TestCloud.note(kind, $0) })
        try #require(answer.records.allSatisfy { $0.serverErrorCode == nil })
    }

    private func deleted(after token: JSON = nil) async throws -> [JSON] {
        try await cloud.changes(as: ada, after: token).records.elements
            .filter { $0.deleted == true }.map(\.recordName)
    }

    @Test("A tombstone stays for the whole retention, and goes with the next cleaning")
    func retention() async throws {
        try await modify("create", "a", "b")
        let before = try await cloud.changes(as: ada).syncToken
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention)
        try await cloud.service.clean()
        #expect(try await deleted(after: before) == ["a"])
        cloud.clock.advance(seconds: 1)
        try await cloud.service.clean()
        #expect(try await deleted() == [])
        #expect(try await cloud.changes(as: ada).records.elements.map(\.recordName) == ["b"])
    }

    @Test("A token from before a deletion that is forgotten has expired; a later one has not")
    func tokens() async throws {
        try await modify("create", "a", "b")
        let old = try await cloud.changes(as: ada).syncToken
        try await modify("forceDelete", "a")
        let informed = try await cloud.changes(as: ada).syncToken
        cloud.clock.advance(seconds: Self.retention + 1)
        try await modify("create", "c")
        try await cloud.service.clean()
        let expired = try await cloud.changes(as: ada, after: old)
        #expect(expired.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        #expect(expired.reason.text?.contains("start without one") == true)
        let current = try await cloud.changes(as: ada, after: informed)
        #expect(current.records.elements.map(\.recordName) == ["c"])
        let older = try await cloud.call(
            "records/changes",
            as: ada,
            ["zoneID": TestCloud.zone("Notes"), "syncToken": old]
        )
        #expect(older.code == "CHANGE_TOKEN_EXPIRED")
    }

    @Test("A token of an empty zone never expires by deletions: who knew nothing misses nothing")
    func beginning() async throws {
        let start = try await cloud.changes(as: ada).syncToken
        try await modify("create", "a", "b")
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        let changes = try await cloud.changes(as: ada, after: start)
        #expect(changes.records.elements.map(\.recordName) == ["b"])
    }

    @Test("A name whose tombstone is gone can be taken again")
    func names() async throws {
        try await modify("create", "a")
        try await modify("forceDelete", "a")
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        let token = try await cloud.changes(as: ada).syncToken
        try await modify("create", "a")
        let changes = try await cloud.changes(as: ada, after: token).records
        #expect(changes[0].recordName == "a" && changes[0].deleted == false)
    }

    @Test("More tombstones than one commit takes all go, parents behind their children")
    func many() async throws {
        for start in stride(from: 0, to: 600, by: 200) {
            let made = try await cloud.modify(
                as: ada,
                (start..<start + 200).map { number in
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": .string("n\(number)"), "recordType": "Note",
                            "parent": number % 10 == 0
                                ? nil : ["recordName": .string("n\(number - 1)")],
                        ],
                    ]
                }
            )
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
            _ = try await cloud.modify(
                as: ada,
                (start..<start + 200).reversed().map { TestCloud.note("forceDelete", "n\($0)") }
            )
        }
        #expect(try await deleted().count == 200)
        cloud.clock.advance(seconds: Self.retention + 1)
        try await cloud.service.clean()
        #expect(try await deleted() == [])
    }
}
