import CloudKitServerCore
import CloudKitWire
import Foundation
import Testing

extension StorageConformance {
    static let snapshotSteps: [Check] = [
        Check(
            testDescription: "Whatever happens between two snapshots, each brings back what it had"
        ) {
            storage in
            for first in SnapshotStep.allCases {
                for second in SnapshotStep.allCases {
                    for third in [SnapshotStep.change, .reset, .restoreA] {
                        let steps = [.keepA, first, second, third, .restoreB, .restoreA]
                        await #expect(throws: Refused(number: 512)) {
                            try await storage.write { writer in
                                var stage = try SnapshotStage(writer)
                                for step in steps { try stage.take(step, steps) }
                                // The next steps start again.
                                throw Refused(number: 512)
                            }
                        }
                    }
                }
            }
        },
        Check(
            testDescription: "What is put out of reach, and what a snapshot alone has, is not found"
        ) { storage in
            try await storage.write { writer in
                let stage = try SnapshotStage(writer)
                let zone = try stage.zone
                let asset = Data([8])
                let row = try #require(try writer.record(zone, name: "a")).id
                var tombstone = Self.record("gone", zone, 90)
                tombstone.isDeleted = true
                _ = try writer.addRecord(tombstone)
                try writer.addSnapshot(stage.snapshot("s"), of: [stage.environment], documents: [])
                try writer.removeZones(of: stage.environment)
                #expect(try writer.record(row, in: zone) == nil)
                #expect(try writer.head(of: row, in: zone) == nil)
                #expect(try writer.tombstones(modifiedBefore: .max, limit: 9) == [])
                // The file stays, because the snapshot may restore its record.
                #expect(try writer.holdsAsset(asset))
                try writer.removeSnapshot("c", "s")
                #expect(try !writer.holdsAsset(asset))
                let orphan = Self.record("orphan", zone, 91)
                #expect(throws: StorageError.self) { _ = try writer.addRecord(orphan) }
            }
        },
        Check(testDescription: "A snapshot keeps the assets that its records had, until it goes") {
            storage in
            try await storage.write { writer in
                let stage = try SnapshotStage(writer)
                let row = try #require(try writer.record(try stage.zone, name: "a")).id
                try writer.addSnapshot(stage.snapshot("s"), of: [stage.environment], documents: [])
                try writer.setAssets([Data([9])], of: row, in: stage.zone)
                #expect(try writer.holdsAsset(Data([8])))
                #expect(try writer.holdsAsset(Data([9])))
                try writer.removeSnapshot("c", "s")
                #expect(try !writer.holdsAsset(Data([8])))
            }
        },
    ]
}

/// A change of a container.
private enum SnapshotStep: CaseIterable {
    case change, delete, add, empty, reset, keepB, restoreB, restoreA

    /// Comes first, and never again.
    case keepA

    static let allCases: [Self] = [
        .change, .delete, .add, .empty, .reset, .keepB, .restoreB, .restoreA,
    ]
}

/// A container of one zone, and its contents when its snapshots were taken.
private struct SnapshotStage {
    let environment: RowID<StoredEnvironment>
    let database: RowID<StoredDatabase>
    private let writer: any StorageWriter
    private var kept: [String: [String]] = [:]
    private var number: Int64 = 0

    init(_ writer: any StorageWriter) throws {
        self.writer = writer
        environment = try writer.addEnvironment(container: "c", .development).id
        database = try writer.addDatabase(environment, owner: nil, incarnation: 3).id
        try addZone()
        try add("a", Data([8]))
        try add("b", nil)
    }

    var zone: RowID<StoredZone> {
        get throws { try #require(try writer.zone(database, name: "zone")).id }
    }

    func snapshot(_ name: String) -> StoredSnapshot {
        StoredSnapshot(container: "c", name: name, created: 5)
    }

    mutating func take(_ step: SnapshotStep, _ steps: [SnapshotStep]) throws {
        number += 10
        switch step {
        case .change: try change()
        case .delete: try delete()
        case .add: try add("n\(number)", Data([8]))
        case .empty:
            try writer.removeContents(of: zone)
            try add("a", nil)
        case .reset:
            try writer.removeZones(of: environment)
            try writer.removeDocuments(in: ["d"])
            try addZone()
            try add("a", Data([9]))
        case .keepA: try keep("A")
        case .keepB: try keep("B")
        case .restoreA: try restore("A", steps)
        case .restoreB: try restore("B", steps)
        }
    }

    private func addZone() throws {
        _ = try writer.addZone(
            StoredZone(
                id: RowID(rawValue: 0),
                database: database,
                name: "zone",
                incarnation: 1,
                headSequence: number,
                changeSequence: number,
                isDeleted: false,
                bytes: number
            )
        )
    }

    private func add(_ name: String, _ asset: Data?) throws {
        // The sequence belongs to no record of the zone.
        let newest = try writer.changedRecords(zone, before: .max, limit: 1).first?.sequence ?? 0
        let record = StorageConformance.record(name, try zone, newest + 1)
        try write(asset, of: try writer.addRecord(record))
        let document = StoredDocument(name: name, body: Data([1]))
        try writer.putDocument("d", document)
    }

    /// Writes the asset beside a record's row.
    private func write(_ asset: Data?, of row: RowID<StoredRecord>) throws {
        let key = Data("\(number)".utf8)
        try writer.addEntry(IndexEntry(index: 1, key: key, record: row), in: zone)
        try writer.addEntry(IndexEntry(index: 2, key: key, record: row), in: zone)
        let reference = StoredReference(source: row, target: "t", kind: .validate)
        try writer.addReference(reference, in: zone)
        try writer.setAssets(asset.map { [$0] } ?? [], of: row, in: zone)
    }

    private func remove(_ row: RowID<StoredRecord>) throws {
        try writer.removeEntries(of: row, in: zone)
        try writer.removeReferences(from: row, in: zone)
        try writer.setAssets([], of: row, in: zone)
    }

    private func change() throws {
        guard var record = try writer.record(zone, name: "a") else { return try add("a", nil) }
        record.sequence += 100
        record.fields = Data("{\"n\":\(number)}".utf8)
        record.share = "share"
        try writer.updateRecord(record)
        try remove(record.id)
        try write(Data([9]), of: record.id)
    }

    /// Turns a record into a tombstone, or forgets an existing tombstone.
    private func delete() throws {
        guard var record = try writer.record(zone, name: "a") else { return }
        try remove(record.id)
        guard !record.isDeleted else { return try writer.removeRecord(record.id, in: zone) }
        record.isDeleted = true
        record.sequence += 100
        try writer.updateRecord(record)
    }

    private mutating func keep(_ name: String) throws {
        try writer.addSnapshot(snapshot(name), of: [environment], documents: ["d"])
        kept[name] = try contents()
    }

    private func restore(_ name: String, _ steps: [SnapshotStep]) throws {
        guard let kept = kept[name] else { return }
        try writer.removeZones(of: environment)
        try writer.removeDocuments(in: ["d"])
        try writer.restoreSnapshot("c", name)
        #expect(try contents() == kept, "\(name) after \(steps)")
    }

    /// Returns everything that can be read, in one line each.
    private func contents() throws -> [String] {
        let zone = try zone
        let records = try writer.changedRecords(zone, after: -1, limit: 99)
        let names = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.name) })
        func name(_ row: RowID<StoredRecord>) throws -> String {
            let record = try #require(try writer.record(row, in: zone))
            #expect(try writer.record(zone, name: record.name) == record)
            return try #require(names[row])
        }
        let rows = records.map { record in
            var record = record
            record.id = RowID(rawValue: 0)
            return "\(record)"
        }
        let entries = try [Int64(1), 2].flatMap { index in
            try writer.entries(IndexScan(zone: zone, index: index, limit: 99))
                .map {
                    "\(index) \(String(decoding: $0.key, as: UTF8.self)) \(try name($0.record))"
                }
        }
        let references = try writer.references(zone, to: "t", in: "").map { try name($0.source) }
        let shares = try writer.shares(zone)
        let documents = try writer.documents("d").map(\.name)
        return ["\(try writer.changedZones(database, after: -1, limit: 9))"] + rows
            + entries.sorted()
            + ["references \(references.sorted())", "shares \(shares)", "documents \(documents)"]
    }
}
