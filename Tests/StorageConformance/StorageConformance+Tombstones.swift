import CloudKitServerCore
import CloudKitWire
import Foundation
import Testing

extension StorageConformance {
    static let tombstones: [Check] = [
        Check(testDescription: "Tombstones are found by age, oldest first, and can be removed") {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                func add(_ name: String, _ sequence: Int64, at time: Int64, deleted: Bool) throws {
                    var record = Self.record(name, zone, sequence)
                    record.modified.milliseconds = time
                    record.isDeleted = deleted
                    _ = try writer.addRecord(record)
                }
                try add("second", 1, at: 20, deleted: true)
                try add("first", 2, at: 10, deleted: true)
                try add("live", 3, at: 5, deleted: false)
                try add("late", 4, at: 30, deleted: true)
                let old = try writer.tombstones(modifiedBefore: 30, limit: 9)
                #expect(old.map(\.name) == ["first", "second"])
                #expect(try writer.tombstones(modifiedBefore: 30, limit: 1).count == 1)
                for record in old { try writer.removeRecord(record.id, in: zone) }
                #expect(try writer.record(zone, name: "first") == nil)
                #expect(try writer.record(zone, name: "late") != nil)
                #expect(try writer.tombstones(modifiedBefore: 30, limit: 9).isEmpty)
            }
        },
        Check(testDescription: "A tombstone that a record of its zone names as parent is not old") {
            storage in
            try await storage.write { writer in
                let zone = try Self.zone(writer)
                var other = try #require(try writer.zone(zone))
                other.name = "other"
                other = try writer.addZone(other)
                for (place, name) in ["parent", "named elsewhere"].enumerated() {
                    var record = Self.record(name, zone, Int64(place) + 1)
                    record.isDeleted = true
                    _ = try writer.addRecord(record)
                }
                var child = Self.record("child", zone, 3)
                child.parent = "parent"
                child.isDeleted = true
                let row = try writer.addRecord(child)
                var stranger = Self.record("stranger", other.id, 1)
                stranger.parent = "named elsewhere"
                _ = try writer.addRecord(stranger)
                let old = try writer.tombstones(modifiedBefore: 9, limit: 9)
                #expect(Set(old.map(\.name)) == ["named elsewhere", "child"])
                try writer.removeRecord(row, in: zone)
                let next = try writer.tombstones(modifiedBefore: 9, limit: 9)
                #expect(Set(next.map(\.name)) == ["named elsewhere", "parent"])
            }
        },
        Check(testDescription: "A zone keeps the number of the newest deletion that it forgot") {
            storage in
            try await storage.write { writer in
                var zone = try #require(try writer.zone(try Self.zone(writer)))
                #expect(zone.horizonSequence == 0)
                zone.horizonSequence = 1 << 40
                try writer.updateZone(zone)
                #expect(try writer.zone(zone.id) == zone)
                zone.name = "other"
                let added = try writer.addZone(zone)
                #expect(try writer.zone(added.id)?.horizonSequence == 1 << 40)
            }
        },
        Check(testDescription: "A zone keeps why it is gone, until it is told otherwise") {
            storage in
            try await storage.write { writer in
                var zone = try #require(try writer.zone(try Self.zone(writer)))
                #expect(zone.deletionReason == nil)
                for reason in [ZoneDeletionReason.purged, .encryptedDataReset, nil] {
                    zone.deletionReason = reason
                    try writer.updateZone(zone)
                    #expect(try writer.zone(zone.id) == zone)
                    #expect(try writer.zone(zone.database, name: zone.name) == zone)
                }
                zone.name = "other"
                zone.deletionReason = .purged
                let added = try writer.addZone(zone)
                #expect(try writer.zone(added.id)?.deletionReason == .purged)
            }
        },
    ]
}
