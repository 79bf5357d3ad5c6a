import CloudKitServerCore
import CloudKitWire
import Foundation
import Testing

extension StorageConformance {
    /// Keys of two users' databases, and a zone in each.
    private struct Users {
        var keys: [DatabaseKey]
        var zones: [RowID<StoredZone>]
    }

    static let announcements: [Check] = [
        Check(testDescription: "What is announced changes nothing that is read, absence included") {
            storage in
            let users = try await Self.users(storage)
            let key = users.keys[0]
            let needs: @Sendable () -> StorageNeeds = {
                var needs = StorageNeeds(in: key)
                needs.users = [RowID(rawValue: -1)]
                needs.environments = [key.environment]
                needs.collections = ["c"]
                needs.documents = [DocumentKey("d", "absent")]
                needs.queues = [Data([1])]
                needs.listsZones = true
                needs.zone("absent") { $0.records = ["a"] }
                needs.zone("Notes") { contents in
                    contents.records = ["a", "absent", "a"]
                    contents.hasShares = true
                    contents.references = [.init(to: "a", in: ""), .init(to: "a", in: "x")]
                    contents.referenceCounts = [.init(to: "a", in: "")]
                    contents.feeds = [.init(from: 0, isReverse: false, limit: 9)]
                    contents.rows = [RowID(rawValue: -1)]
                }
                return needs
            }
            try await storage.write(.database(key), needing: needs) { writer in
                let database = try #require(
                    try writer.database(key.environment, owner: key.owner)
                )
                #expect(try writer.zone(database.id, name: "absent") == nil)
                let zone = try #require(try writer.zone(database.id, name: "Notes"))
                #expect(try writer.record(zone.id, name: "absent") == nil)
                #expect(try writer.changedRecords(zone.id, after: 0, limit: 9).isEmpty)
                #expect(try writer.user(RowID(rawValue: -1)) == nil)
                let row = try writer.addRecord(Self.record("a", zone.id, 1))
                try writer.putDocument("c", StoredDocument(name: "n", body: Data([1])))
                #expect(try writer.pushes(Data([1]), limit: 1).isEmpty)
                for body in 7...8 as ClosedRange<UInt8> {
                    try writer.addPush(
                        StoredPush(
                            id: RowID(rawValue: 0),
                            queue: Data([1]),
                            slot: nil,
                            body: Data([body])
                        )
                    )
                }
                let oldest = try writer.pushes(Data([1]), limit: 1)
                #expect(oldest.map(\.body) == [Data([7])])
                for push in oldest { try writer.removePush(push.id) }
                #expect(try writer.pushes(Data([1]), limit: 1).map(\.body) == [Data([8])])
                let reference = StoredReference(source: row, target: "a", kind: .validate)
                try writer.addReference(reference, in: zone.id)
                #expect(try writer.record(zone.id, name: "a")?.id == row)
                #expect(try writer.changedRecords(zone.id, after: 0, limit: 9).map(\.id) == [row])
                #expect(try writer.references(zone.id, to: "a", in: "") == [reference])
                #expect(try writer.referenceCount(zone.id, to: "a", .validate, in: "") == 1)
                #expect(try writer.documents("c").map(\.name) == ["n"])
                #expect(try writer.document("d", "absent") == nil)
                try writer.prepare { _ in needs() }
                #expect(try writer.zones(database.id).map(\.name) == ["Notes"])
            }
            let found = try await storage.read(needing: needs) { reader in
                let database = try #require(
                    try reader.database(key.environment, owner: key.owner)
                )
                let zone = try #require(try reader.zone(database.id, name: "Notes"))
                return try reader.record(zone.id, name: "a")
            }
            #expect(found?.name == "a")
        },
        Check(testDescription: "Writes of several databases at once lose nothing they share") {
            storage in
            let users = try await Self.users(storage)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    let (key, zone) = (users.keys[number % 2], users.zones[number % 2])
                    group.addTask {
                        try await storage.write(.database(key), needing: { StorageNeeds(in: key) })
                        { writer in
                            var row = try #require(try writer.zone(zone))
                            row.headSequence += 1
                            try writer.updateZone(row)
                            let record = Self.record("r\(number)", zone, row.headSequence)
                            _ = try writer.addRecord(record)
                            let count = try writer.document("shared", "count")?.first ?? 0
                            try writer.putDocument(
                                "shared",
                                StoredDocument(name: "count", body: Data([count + 1]))
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await storage.read { reader in
                for zone in users.zones {
                    #expect(try reader.zone(zone)?.headSequence == 20)
                    let feed = try reader.changedRecords(zone, after: 0, limit: 99)
                    #expect(feed.map(\.sequence) == Array(1...20))
                }
                #expect(try reader.document("shared", "count") == Data([40]))
            }
        },
        Check(testDescription: "A write that changes more than it announced is made as a whole") {
            storage in
            let users = try await Self.users(storage)
            let key = users.keys[0]
            try await storage.write(.database(key), needing: { StorageNeeds(in: key) }) { writer in
                _ = try writer.addRecord(Self.record("mine", users.zones[0], 1))
                _ = try writer.addRecord(Self.record("another's", users.zones[1], 1))
                try writer.setSetting("s", Data([1]))
            }
            let unknown = DatabaseKey(environment: key.environment, owner: RowID(rawValue: -7))
            try await storage.write(.database(unknown), needing: { StorageNeeds(in: unknown) }) {
                try $0.setSetting("t", Data([2]))
            }
            let found = try await storage.read { reader in
                let mine = try reader.record(users.zones[0], name: "mine")
                let other = try reader.record(users.zones[1], name: "another's")
                return [mine?.name, other?.name]
            }
            #expect(found == ["mine", "another's"])
            let settings = try await storage.read { reader in
                try ["s", "t"].map { try reader.setting($0) }
            }
            #expect(settings == [Data([1]), Data([2])])
        },
        Check(testDescription: "A read sees one state, however many writes end meanwhile") {
            storage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 as Range<UInt8> {
                    group.addTask {
                        try await storage.write { writer in
                            try writer.setSetting("a", Data([number]))
                            try writer.putDocument(
                                "c",
                                StoredDocument(name: "b", body: Data([number]))
                            )
                        }
                    }
                    group.addTask {
                        try await storage.read { reader in
                            let first = try reader.setting("a")
                            #expect(try reader.document("c", "b") == first)
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    static let values: [Check] = [
        Check(testDescription: "Text has characters of all planes, and sorts by its bytes") {
            storage in
            let names = [
                "\u{1}", "A", "a", "a\tb", "a b", "e\u{301}", "z", "\u{e9}", "\u{fffd}",
                "\u{1f600}",
            ]
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                for (place, name) in names.shuffled().enumerated() {
                    let document = StoredDocument(name: name, body: Data(name.utf8))
                    try writer.putDocument("c", document)
                    #expect(try writer.document("c", name) == document.body)
                    var record = Self.record(name, zone, Int64(place) + 1)
                    record.type = name
                    record.parent = name
                    record.fields = Data(name.utf8)
                    record.id = try writer.addRecord(record)
                    #expect(try writer.record(zone, name: name) == record)
                }
            }
            try await storage.read { reader in
                let bodies = names.map { Data($0.utf8) }
                #expect(try reader.documents("c").map(\.body) == bodies)
                let zone = try #require(
                    try reader.environments().first.flatMap { try reader.zones($0.id).first }
                )
                for name in names {
                    let record = try #require(try reader.record(zone.id, name: name))
                    #expect(record.fields == Data(name.utf8))
                    #expect(try reader.document("c", name) == record.fields)
                    #expect(try reader.children(zone.id, of: name, limit: 9) == [record])
                }
            }
        },
        Check(testDescription: "Values are as large as a request, and as empty as nothing") {
            storage in
            let large = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let longName = String(repeating: "\u{1f600}", count: 255)
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                for (place, fields) in [large, Data(), large].enumerated() {
                    var record = Self.record("\(place)\(longName)", zone, Int64(place) + 1)
                    record.fields = fields
                    record.extra = fields
                    let row = try writer.addRecord(record)
                    let key = Data(repeating: 255, count: 513)
                    let entry = IndexEntry(index: 1, key: key, record: row)
                    try writer.addEntry(entry, in: zone)
                    try writer.addReference(
                        StoredReference(source: row, target: longName, kind: .validate),
                        in: zone
                    )
                }
                try writer.setSetting("empty", Data())
            }
            try await storage.read { reader in
                #expect(try reader.setting("empty") == Data())
                let zone = try #require(
                    try reader.environments().first.flatMap { try reader.zones($0.id).first }
                )
                let records = try reader.changedRecords(zone.id, after: 0, limit: 9)
                #expect(records.map(\.fields) == [large, Data(), large])
                #expect(records.map(\.extra) == [large, Data(), large])
                let scan = IndexScan(zone: zone.id, index: 1, limit: 9)
                #expect(try reader.entries(scan).count == 3)
                #expect(try reader.references(zone.id, to: longName, in: "").count == 3)
            }
        },
    ]

    private static func users(_ storage: any Storage) async throws -> Users {
        try await storage.write { writer in
            var users = Users(keys: [], zones: [])
            let environment = try writer.addEnvironment(container: "c", .development)
            for number in 1...2 {
                let user = try writer.addUser(
                    StoredUser(id: RowID(rawValue: 0), container: "c", recordName: "_\(number)")
                )
                let key = DatabaseKey(environment: environment.id, owner: user.id)
                let database = try writer.addDatabase(
                    environment.id,
                    owner: user.id,
                    incarnation: 1
                )
                users.keys.append(key)
                users.zones.append(
                    try writer.addZone(
                        StoredZone(
                            id: RowID(rawValue: 0),
                            database: database.id,
                            name: "Notes",
                            incarnation: 1,
                            headSequence: 0,
                            changeSequence: 1,
                            isDeleted: false
                        )
                    ).id
                )
            }
            return users
        }
    }
}
