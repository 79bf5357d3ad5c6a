public import CloudKitServerCore
import CloudKitWire
import Foundation
public import Testing

/// The requirements of every storage engine, whatever its implementation.
///
/// A test target of an engine calls each check with a fresh storage.
public struct StorageConformance: Sendable {
    /// One promise of `Storage` and the code that checks it.
    public struct Check: Sendable, CustomTestStringConvertible {
        public let testDescription: String
        public let run: @Sendable (any Storage) async throws -> Void
    }

    public static let checks: [Check] =
        transactions + rows + feeds + tombstones + indexes + snapshots + snapshotSteps
        + pushes + announcements + values
}

struct Refused: Error, Equatable {
    var number = 0
}

extension StorageConformance {
    static let transactions: [Check] = [
        Check(testDescription: "A write that throws leaves nothing and passes its error on") {
            storage in
            await #expect(throws: Refused(number: 7)) {
                try await storage.write { writer in
                    try writer.setSetting("a", Data([1]))
                    throw Refused(number: 7)
                }
            }
            let left = try await storage.read { try $0.setting("a") }
            #expect(left == nil)
        },
        Check(testDescription: "Writes that run together fail and succeed one by one") { storage in
            let results = await withTaskGroup(of: (Int, Bool).self) { group in
                for number in 0..<100 {
                    group.addTask {
                        do {
                            try await storage.write { writer in
                                // Before it wrote anything, or after that.
                                if number % 6 == 0 { throw Refused() }
                                try writer.setSetting("k\(number)", Data([UInt8(number)]))
                                if number % 3 == 0 { throw Refused() }
                            }
                            return (number, true)
                        } catch {
                            return (number, false)
                        }
                    }
                }
                return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
            }
            for number in 0..<100 {
                #expect(results[number] == (number % 3 != 0))
                let value = try await storage.read { try $0.setting("k\(number)") }
                #expect(value == (number % 3 == 0 ? nil : Data([UInt8(number)])))
            }
        },
        Check(testDescription: "Increments from many writers are never lost") { storage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await storage.write { writer in
                            let count = try writer.setting("count")?.first ?? 0
                            try writer.setSetting("count", Data([count + 1]))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let count = try await storage.read { try $0.setting("count") }
            #expect(count == Data([50]))
        },
        Check(testDescription: "A write sees what it wrote; a read sees every write that ended") {
            storage in
            try await storage.write { writer in
                try writer.setSetting("a", Data([1]))
                #expect(try writer.setting("a") == Data([1]))
            }
            let value = try await storage.read { try $0.setting("a") }
            #expect(value == Data([1]))
        },
    ]

    static let rows: [Check] = [
        Check(testDescription: "Environments, users and credentials are found again") { storage in
            try await storage.write { writer in
                let environment = try writer.addEnvironment(container: "c", .production)
                #expect(try writer.environment(container: "c", .development) == nil)
                try writer.setSchema(environment.id, version: 9, Data([4]))
                var expected = environment
                expected.schemaVersion = 9
                #expect(try writer.environment(environment.id) == expected)
                #expect(try writer.environments() == [expected])
                #expect(try writer.schema(environment.id) == Data([4]))
                let user = try writer.addUser(user("_b", "ada@example.com"))
                _ = try writer.addUser(Self.user("_a", nil))
                #expect(try writer.user(user.id) == user)
                #expect(try writer.user(container: "c", recordName: "_b") == user)
                #expect(try writer.users(container: "c").map(\.recordName) == ["_a", "_b"])
                let credential = StoredCredential(
                    kind: .webToken,
                    hash: Data([1, 2]),
                    environment: environment.id,
                    user: user.id,
                    companion: Data([3]),
                    expires: 100
                )
                try writer.putCredential(credential)
                #expect(try writer.credential(.webToken, hash: Data([1, 2])) == credential)
                #expect(try writer.credential(.apiToken, hash: Data([1, 2])) == nil)
                let other = try writer.addEnvironment(container: "c", .development)
                let token = StoredCredential(
                    kind: .apiToken,
                    hash: Data([9]),
                    environment: environment.id
                )
                try writer.putCredential(token)
                #expect(try writer.credentials(environment.id) == [token, credential])
                #expect(try writer.credentials(other.id) == [])
                try writer.removeCredentials(expiredBefore: 100)
                #expect(try writer.credential(.webToken, hash: Data([1, 2])) != nil)
                try writer.removeCredentials(expiredBefore: 101)
                #expect(try writer.credential(.webToken, hash: Data([1, 2])) == nil)
            }
        },
        Check(testDescription: "A record comes back as it went in, every member of it") { storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                var record = Self.record("r", zone, 1)
                record.id = try writer.addRecord(record)
                #expect(try writer.record(zone, name: "r") == record)
                record.name = "r"
                record.type = "U"
                record.sequence = 2
                record.created = .init(milliseconds: 5, user: "_x")
                record.modified = .init(milliseconds: 6, user: "_y")
                record.isDeleted = true
                record.parent = "p"
                record.share = "s"
                record.hasAssets = true
                record.fields = Data([0, 255])
                try writer.updateRecord(record)
                #expect(try writer.record(record.id, in: zone) == record)
                #expect(try writer.record(zone, name: "R") == nil)
                record.extra = Data([7])
                try writer.updateRecord(record)
                let head = try writer.head(of: record.id, in: zone)
                record.fields = Data()
                record.extra = nil
                #expect(head == StoredRecordHead(record, fieldBytes: 2))
                #expect(try writer.head(of: RowID(rawValue: -1), in: zone) == nil)
            }
        },
        Check(testDescription: "A removed user is found by its row alone, without name and address")
        {
            storage in
            try await storage.write { writer in
                let user = try writer.addUser(Self.user("_one", "one@example.com"))
                try writer.removeUser(user.id)
                #expect(try writer.users(container: user.container).isEmpty)
                let gone = try writer.user(container: user.container, recordName: "_one")
                #expect(gone == nil)
                let row = StoredUser(id: user.id, container: "", recordName: "_one")
                #expect(try writer.user(user.id) == row)
            }
        },
        Check(testDescription: "The shares of a zone are found by their roots, each once") {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                var neighbour = try #require(try writer.zone(zone))
                neighbour.name = "neighbour"
                neighbour = try writer.addZone(neighbour)
                let rows = [
                    ("none", nil, zone), ("b", "two", zone), ("a", "one", zone),
                    ("c", "one", zone), ("gone", "three", zone), ("d", "four", neighbour.id),
                ]
                for (place, (name, share, zone)) in rows.enumerated() {
                    var record = Self.record(name, zone, Int64(place) + 1)
                    record.share = share
                    record.isDeleted = name == "gone"
                    record.id = try writer.addRecord(record)
                    guard name == "b" else { continue }
                    #expect(try writer.shares(zone) == ["two"])
                    record.share = nil
                    try writer.updateRecord(record)
                }
                #expect(try writer.shares(zone) == ["one"])
                #expect(try writer.shares(neighbour.id) == ["four"])
            }
        },
        Check(
            testDescription:
                "References are found by target and circle, counted by kind, removed by source"
        ) {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                let one = try writer.addRecord(Self.record("one", zone, 1))
                let two = try writer.addRecord(Self.record("two", zone, 2))
                for (source, kind) in [(one, StoredReference.Kind.deleteSelf), (two, .validate)] {
                    let reference = StoredReference(source: source, target: "t", kind: kind)
                    try writer.addReference(reference, in: zone)
                    try writer.addReference(reference, in: zone)
                }
                let mine = StoredReference(source: two, target: "t", kind: .validate, circle: "me")
                try writer.addReference(mine, in: zone)
                #expect(try writer.references(zone, to: "t", in: "").map(\.source) == [one, two])
                #expect(try writer.references(zone, to: "t", in: "me") == [mine])
                #expect(try writer.references(zone, to: "t", in: "you").isEmpty)
                #expect(try writer.referenceCount(zone, to: "t", .validate, in: "") == 1)
                #expect(try writer.referenceCount(zone, to: "t", .validate, in: "you") == 0)
                try writer.removeReferences(from: one, in: zone)
                #expect(try writer.references(zone, to: "t", in: "").map(\.source) == [two])
                try writer.removeReferences(from: two, in: zone)
                #expect(try writer.references(zone, to: "t", in: "me").isEmpty)
            }
        },
    ]

    static let feeds: [Check] = [
        Check(testDescription: "Change feeds are in order, in both directions, within their limit")
        {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                for number in 1...10 {
                    _ = try writer.addRecord(Self.record("r\(number)", zone, Int64(number)))
                }
                let after = try writer.changedRecords(zone, after: 3, limit: 4)
                #expect(after.map(\.sequence) == [4, 5, 6, 7])
                let before = try writer.changedRecords(zone, before: 3, limit: 4)
                #expect(before.map(\.sequence) == [2, 1])
                #expect(try writer.changeCount(zone, after: 3) == 7)
                #expect(try writer.changeCount(zone, after: 10) == 0)
            }
        },
        Check(testDescription: "A database's feed holds deleted zones; its list does not") {
            storage in
            try await storage.write { writer in
                let id = try Self.zone(writer)
                var zone = try #require(try writer.zone(id))
                zone.changeSequence = 8
                zone.birthSequence = 7
                zone.bytes = 1 << 40
                zone.isDeleted = true
                try writer.updateZone(zone)
                #expect(try writer.changedZones(zone.database, after: 7, limit: 9) == [zone])
                #expect(try writer.changedZones(zone.database, after: 8, limit: 9).isEmpty)
                #expect(try writer.zones(zone.database).isEmpty)
            }
        },
        Check(testDescription: "A zone's contents go without those of its neighbours") { storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                var neighbour = try #require(try writer.zone(zone))
                neighbour.name = "neighbour"
                neighbour = try writer.addZone(neighbour)
                for id in [zone, neighbour.id] {
                    let record = try writer.addRecord(Self.record("r", id, 1))
                    let entry = IndexEntry(index: 1, key: Data([1]), record: record)
                    try writer.addEntry(entry, in: id)
                    try writer.setAssets(
                        [Data([9]), Self.checksum(of: id)],
                        of: record,
                        in: id
                    )
                }
                #expect(try writer.holdsAsset(Self.checksum(of: zone)))
                try writer.removeContents(of: zone)
                #expect(try !writer.holdsAsset(Self.checksum(of: zone)))
                #expect(try writer.holdsAsset(Data([9])))
                #expect(try writer.record(zone, name: "r") == nil)
                #expect(try writer.entries(IndexScan(zone: zone, index: 1, limit: 9)).isEmpty)
                #expect(try writer.record(neighbour.id, name: "r") != nil)
                let scan = IndexScan(zone: neighbour.id, index: 1, limit: 9)
                #expect(try writer.entries(scan).count == 1)
            }
        },
    ]

    static let indexes: [Check] = [
        Check(testDescription: "Index entries sort by the bytes of their keys, then by record") {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                let keys: [[UInt8]] = [[], [0], [0, 0], [1], [1, 0], [0x7F], [0x80], [0xFF, 1]]
                for key in keys.shuffled() {
                    for record in [2, 1] as [Int64] {
                        try writer.addEntry(Self.entry(key, record), in: zone)
                    }
                }
                let up = try writer.entries(IndexScan(zone: zone, index: 1, limit: 99))
                #expect(up == keys.flatMap { [Self.entry($0, 1), Self.entry($0, 2)] })
                let scan = IndexScan(zone: zone, index: 1, isDescending: true, limit: 99)
                #expect(try writer.entries(scan) == up.reversed())
                #expect(try writer.entries(IndexScan(zone: zone, index: 2, limit: 9)).isEmpty)
            }
        },
        Check(testDescription: "A scan keeps to its bounds, its start and its limit") { storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                for key in 0..<20 as Range<UInt8> {
                    try writer.addEntry(Self.entry([key], 1), in: zone)
                }
                var scan = IndexScan(
                    zone: zone,
                    index: 1,
                    lowerBound: Data([5]),
                    upperBound: Data([10]),
                    limit: 3
                )
                #expect(try writer.entries(scan).map { $0.key[0] } == [5, 6, 7])
                #expect(try writer.entryCount(scan) == 3)
                scan.after = Self.entry([7], 1)
                #expect(try writer.entries(scan).map { $0.key[0] } == [8, 9])
                scan.isDescending = true
                #expect(try writer.entries(scan).map { $0.key[0] } == [6, 5])
                try writer.removeEntry(Self.entry([6], 1), in: zone)
                #expect(try writer.entries(scan).map { $0.key[0] } == [5])
            }
        },
        Check(
            testDescription:
                "The entries of a scan come with their records, if these are in the zone"
        ) { storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                var neighbour = try #require(try writer.zone(zone))
                neighbour.name = "neighbour"
                neighbour = try writer.addZone(neighbour)
                let strange = try writer.addRecord(Self.record("r", neighbour.id, 1))
                var ids = [strange, RowID(rawValue: 4_000_000)]
                for number in 0..<6 as Range<Int64> {
                    ids.append(try writer.addRecord(Self.record("r\(number)", zone, number + 1)))
                }
                for (place, id) in ids.enumerated() {
                    try writer.addEntry(Self.entry([UInt8(place % 3)], id.rawValue), in: zone)
                }
                for isDescending in [false, true] {
                    var scan = IndexScan(zone: zone, index: 1, isDescending: isDescending, limit: 5)
                    for _ in 0..<2 {
                        var found: [IndexEntry] = []
                        try writer.forEachRecord(in: scan) { entry, record in
                            let wanted = try writer.record(entry.record, in: zone)
                            #expect(record == wanted)
                            let isElsewhere = ids.prefix(2).contains(entry.record)
                            #expect((record == nil) == isElsewhere)
                            found.append(entry)
                            return true
                        }
                        let entries = try writer.entries(scan)
                        #expect(found == entries)
                        scan.after = found.last
                    }
                    scan.after = nil
                    var count = 0
                    try writer.forEachRecord(in: scan) { _, _ in
                        count += 1
                        return count < 2
                    }
                    #expect(count == 2)
                }
            }
        },
        Check(testDescription: "Missing entries are added for exactly the records that lack one") {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                let environment = try #require(try writer.environments().first)
                for record in [1, 2, 3] as [Int64] {
                    try writer.addEntry(Self.entry([UInt8(record)], record), in: zone)
                }
                let known = IndexEntry(index: 5, key: Data([9]), record: RowID(rawValue: 2))
                try writer.addEntry(known, in: zone)
                try writer.addMissingEntries(index: 5, key: Data(), for: 1, environment.id)
                let entries = try writer.entries(IndexScan(zone: zone, index: 5, limit: 9))
                #expect(entries.map(\.record.rawValue) == [1, 3, 2])
                try writer.removeEntries(index: 5, environment.id)
                #expect(try writer.entries(IndexScan(zone: zone, index: 5, limit: 9)).isEmpty)
            }
        },
    ]

    private static func user(_ name: String, _ email: String?) -> StoredUser {
        StoredUser(
            id: RowID(rawValue: 0),
            container: "c",
            recordName: name,
            givenName: "G",
            familyName: nil,
            emailAddress: email
        )
    }

    static func zone(_ writer: any StorageWriter) throws -> RowID<StoredZone> {
        let environment = try writer.addEnvironment(container: "c", .development)
        let database = try writer.addDatabase(environment.id, owner: nil, incarnation: 3)
        let zone = StoredZone(
            id: RowID(rawValue: 0),
            database: database.id,
            name: "zone",
            incarnation: 1,
            headSequence: 0,
            changeSequence: 1,
            isDeleted: false
        )
        return try writer.addZone(zone).id
    }

    static func record(
        _ name: String,
        _ zone: RowID<StoredZone>,
        _ sequence: Int64
    ) -> StoredRecord {
        StoredRecord(
            id: RowID(rawValue: 0),
            zone: zone,
            name: name,
            type: "T",
            sequence: sequence,
            created: .init(milliseconds: 1, user: "_a"),
            modified: .init(milliseconds: 2, user: "_b"),
            fields: Data("{}".utf8)
        )
    }

    /// A checksum that stands for a zone.
    private static func checksum(of zone: RowID<StoredZone>) -> Data {
        Data("\(zone.rawValue)".utf8)
    }

    static func entry(_ key: [UInt8], _ record: Int64) -> IndexEntry {
        IndexEntry(index: 1, key: Data(key), record: RowID(rawValue: record))
    }
}
