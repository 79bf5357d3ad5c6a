import CloudKit
import Foundation

/// An app with Core Data on a phone, as the other side of a zone.
///
/// It imports and exports as the reference says `NSPersistentCloudKitContainer` does, and shares no code with the product:
/// objects in memory, records with changed keys alone, its own rule for assets, local edits that win over imports, zones of
/// their own for objects that are shared.
actor PhoneApp {
    struct Object: Hashable {
        var entity: String
        var values: [String: PhoneValue] = [:]
        var links: [String: String] = [:]
    }

    /// A link of a many-to-many relationship.
    struct Link: Hashable {
        var relationship: String
        var source: String
        var target: String
    }

    static let zoneID = CKRecordZone.ID(zoneName: "com.apple.coredata.cloudkit.zone")

    /// The bytes after which values become assets.
    private static let inlineLimit = 700_000

    var objects: [String: Object] = [:]
    /// The links by the names of their records.
    var links: [String: Link] = [:]

    let container: CKContainer
    let folder: URL
    private var tokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// The zones of shared objects and links; the others are in the app's own.
    var zones: [String: CKRecordZone.ID] = [:]
    /// The records of shared objects that are still, or again, in the app's own zone.
    var aside: [String: CKRecord] = [:]
    /// The objects and links that were moved here, whose records say from where.
    var moved: Set<String> = []
    /// The last known records, with the server's system fields.
    var known: [String: CKRecord] = [:]
    var edited: [String: Set<String>] = [:]
    private var deleted: Set<String> = []
    var addedLinks: Set<String> = []
    private var nextName = 0
    private let prefix: String

    init(_ container: CKContainer, prefix: String = "P") {
        self.container = container
        self.prefix = prefix
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("PhoneApp-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func setUp() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try await container.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
    }

    func newName() -> String {
        nextName += 1
        return "\(prefix)0000000-0000-4000-8000-" + String(repeating: "0", count: 6)
            + String(String(nextName + 1_000_000).suffix(6))
    }

    // MARK: Editing

    @discardableResult
    func insert(
        _ entity: String,
        _ values: [String: PhoneValue] = [:],
        _ links: [String: String] = [:]
    ) -> String {
        let name = newName()
        var object = Object(entity: entity, links: links)
        for attribute in PhoneModel.entities[entity]?.attributes ?? [] {
            object.values[attribute.name] = values[attribute.name] ?? attribute.defaultValue
        }
        objects[name] = object
        edited[name] = Set(object.values.keys).union(links.keys)
        return name
    }

    func set(_ attribute: String, _ value: PhoneValue?, of name: String) {
        objects[name]?.values[attribute] = value
        edited[name, default: []].insert(attribute)
    }

    func set(_ relationship: String, to target: String?, of name: String) {
        objects[name]?.links[relationship] = target
        edited[name, default: []].insert(relationship)
    }

    func link(_ relationship: String, _ source: String, _ target: String) {
        let link = Link(relationship: relationship, source: source, target: target)
        guard !links.values.contains(link) else { return }
        let name = newName()
        links[name] = link
        addedLinks.insert(name)
    }

    /// Removes all records of a link.
    func unlink(_ relationship: String, _ source: String, _ target: String) {
        let link = Link(relationship: relationship, source: source, target: target)
        for (name, other) in links where other == link { removeLink(name) }
    }

    private func removeLink(_ name: String) {
        links[name] = nil
        if addedLinks.remove(name) == nil { deleted.insert(name) }
    }

    /// Deletes an object by the rule Nullify.
    func delete(_ name: String) {
        guard objects.removeValue(forKey: name) != nil else { return }
        edited[name] = nil
        if known[name] != nil { deleted.insert(name) }
        for (other, object) in objects {
            for (relationship, target) in object.links where target == name {
                set(relationship, to: nil, of: other)
            }
        }
        for (record, link) in links where link.source == name || link.target == name {
            removeLink(record)
        }
    }

    /// The targets that a relationship leads to, of those that exist.
    func targets(_ relationship: String, _ source: String) -> Set<String> {
        Set(
            links.values.filter {
                $0.relationship == relationship && $0.source == source && objects[$0.target] != nil
            }
            .map(\.target)
        )
    }

    // MARK: Syncing

    func sync() async throws {
        try await fetch()
        for _ in 0..<20 {
            if try await send() { return }
            try await fetch()
        }
        throw Failure(description: "the phone never came to rest")
    }

    struct Failure: Error, CustomStringConvertible { var description: String }

    // MARK: Import

    func fetch() async throws {
        let zones = [Self.zoneID] + (try await sharedZones())
        for zone in Set(tokens.keys).subtracting(zones) { leave(zone) }
        for zone in zones { try await fetch(zone) }
    }

    private func fetch(_ zone: CKRecordZone.ID) async throws {
        while true {
            let page = try await database(of: zone)
                .recordZoneChanges(inZoneWith: zone, since: tokens[zone])
            for (_, result) in page.modificationResultsByID {
                try read(try result.get().record)
            }
            for deletion in page.deletions {
                let name = deletion.recordID.recordName
                if self.zone(of: name) == zone {
                    forget(name)
                    if let record = aside.removeValue(forKey: name) { try read(record) }
                } else {
                    aside[name] = nil
                }
            }
            tokens[zone] = page.changeToken
            if !page.moreComing { return }
        }
    }

    /// Forgets a zone that is gone.
    func stopFetching(_ zone: CKRecordZone.ID) { tokens[zone] = nil }

    private func read(_ record: CKRecord) throws {
        let name = record.recordID.recordName
        guard find(name, in: record.recordID.zoneID) else {
            aside[name] = record
            return
        }
        if record.recordType == "CDMR" { return readLink(record) }
        guard record.recordType.hasPrefix("CD_") else { return }
        let root = String(record.recordType.dropFirst(3))
        let entity = record["CD_entityName"] as? String ?? root
        guard let description = PhoneModel.entities[entity], description.root == root,
            !deleted.contains(name)
        else { return }
        known[name] = record
        var object = objects[name] ?? Object(entity: entity)
        let kept = edited[name] ?? []
        for attribute in description.attributes where !kept.contains(attribute.name) {
            object.values[attribute.name] =
                try Self.value(attribute, in: record) ?? attribute.defaultValue
        }
        for relationship in description.toOne where !kept.contains(relationship) {
            let target = record["CD_" + relationship] as? String
            object.links[relationship] = target
        }
        objects[name] = object
    }

    private static func value(
        _ attribute: PhoneModel.Attribute,
        in record: CKRecord
    ) throws -> PhoneValue? {
        let key = "CD_" + attribute.name
        let object: Any? =
            attribute.isEncrypted
            ? record.encryptedValues.object(forKey: key) : record.object(forKey: key)
        let asset = try (record.object(forKey: key + "_ckAsset") as? CKAsset)?.fileURL
            .map { try Data(contentsOf: $0) }
        switch attribute.kind {
        case .number, .flag:
            guard let object else { return nil }
            guard let number = object as? NSNumber else { throw wrong(record, key) }
            return .int(number.intValue)
        case .double:
            guard let object else { return nil }
            guard let number = object as? NSNumber else { throw wrong(record, key) }
            return .double(number.doubleValue)
        case .date:
            guard let object else { return nil }
            guard let date = object as? Date else { throw wrong(record, key) }
            return .date(date)
        case .text, .shortText:
            if let object {
                guard let text = object as? String else { throw wrong(record, key) }
                if !text.isEmpty || asset == nil { return .text(text) }
            }
            return asset.map { .text(String(decoding: $0, as: UTF8.self)) }
        case .data:
            if let object {
                guard let data = object as? Data else { throw wrong(record, key) }
                if !data.isEmpty || asset == nil { return .data(data) }
            }
            return asset.map { .data($0) }
        }
    }

    private static func wrong(_ record: CKRecord, _ key: String) -> Failure {
        Failure(
            description:
                "\(record.recordType).\(key) holds \(String(describing: record.object(forKey: key)))"
        )
    }

    private func readLink(_ record: CKRecord) {
        func parts(_ key: String) -> [String] {
            ((record[key] as? String) ?? "").components(separatedBy: ":")
        }
        let (entities, names, relationships) = (
            parts("CD_entityNames"), parts("CD_recordNames"), parts("CD_relationships")
        )
        guard entities.count == 2, names.count == 2, relationships.count == 2,
            !deleted.contains(record.recordID.recordName)
        else { return }
        for description in PhoneModel.manyToMany {
            for (first, second) in [(0, 1), (1, 0)]
            where entities[first] == description.entity && relationships[first] == description.name
                && entities[second] == description.other
                && relationships[second] == description.inverse
            {
                links[record.recordID.recordName] = Link(
                    relationship: description.name,
                    source: names[first],
                    target: names[second]
                )
                known[record.recordID.recordName] = record
                return
            }
        }
    }

    func forget(_ name: String) {
        deleted.remove(name)
        known[name] = nil
        zones[name] = nil
        moved.remove(name)
        if links.removeValue(forKey: name) != nil { return }
        guard objects.removeValue(forKey: name) != nil else { return }
        edited[name] = nil
        // Nullify, as an import: nothing is exported for it.
        for (other, object) in objects {
            for (relationship, target) in object.links where target == name {
                objects[other]?.links[relationship] = nil
                edited[other]?.remove(relationship)
            }
        }
        for (record, link) in links where link.source == name || link.target == name {
            // Of those that were exported, whoever deleted the object removes the records.
            if addedLinks.remove(record) != nil { links[record] = nil }
        }
    }

    // MARK: Export

    /// Exports local changes, and returns whether the server accepted all.
    func send() async throws -> Bool {
        placeNew()
        var records: [CKRecord] = []
        for (name, keys) in edited.sorted(by: { $0.key < $1.key }) {
            guard let object = objects[name] else { continue }
            records.append(try record(name, object, keys))
        }
        for name in addedLinks.sorted() {
            guard let link = links[name] else { continue }
            records.append(record(name, link))
        }
        let deletions = deleted.sorted().map {
            CKRecord.ID(recordName: $0, zoneID: zone(of: $0))
        }
        guard !records.isEmpty || !deletions.isEmpty else { return true }
        var isDone = true
        for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
            let saves = records.filter { self.database(of: $0.recordID.zoneID) === database }
            let removals = deletions.filter { self.database(of: $0.zoneID) === database }
            guard !saves.isEmpty || !removals.isEmpty else { continue }
            if try await !send(saves, removals, to: database) { isDone = false }
        }
        return isDone
    }

    private func send(
        _ records: [CKRecord],
        _ deletions: [CKRecord.ID],
        to database: CKDatabase
    ) async throws -> Bool {
        let results = try await database.modifyRecords(
            saving: records,
            deleting: deletions,
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        var isDone = true
        for (id, result) in results.saveResults {
            let name = id.recordName
            switch result {
            case .success(let record):
                known[name] = record
                edited[name] = nil
                addedLinks.remove(name)
            case .failure(let error as CKError) where error.code == .serverRecordChanged:
                isDone = false
            case .failure(let error as CKError) where error.code == .unknownItem:
                isDone = false
            case .failure(let error): throw error
            }
        }
        for (id, result) in results.deleteResults {
            switch result {
            case .success: break
            case .failure(let error as CKError) where error.code == .unknownItem: break
            case .failure(let error): throw error
            }
            deleted.remove(id.recordName)
            known[id.recordName] = nil
            zones[id.recordName] = nil
        }
        return isDone
    }

    func record(_ name: String, _ object: Object, _ keys: Set<String>) throws -> CKRecord {
        let description = PhoneModel.entities[object.entity]
        let record =
            known[name].flatMap { $0.copy() as? CKRecord }
            ?? CKRecord(
                recordType: "CD_" + (description?.root ?? ""),
                recordID: CKRecord.ID(recordName: name, zoneID: zone(of: name))
            )
        if moved.contains(name) { record["CD_moveReceipt"] = Self.receipt }
        if known[name] == nil { record["CD_entityName"] = object.entity }
        for relationship in description?.toOne ?? [] where keys.contains(relationship) {
            record["CD_" + relationship] = object.links[relationship]
        }
        var size = 0
        var large: [(PhoneModel.Attribute, Data, Int)] = []
        for attribute in description?.attributes ?? [] {
            let key = "CD_" + attribute.name
            switch (attribute.kind, object.values[attribute.name]) {
            case (.text, .text(let text)?):
                large.append((attribute, Data(text.utf8), text.utf16.count))
            case (.data, .data(let data)?): large.append((attribute, data, data.count))
            case (_, let value):
                size += 8
                guard keys.contains(attribute.name) else { continue }
                Self.set(value, key, attribute, record)
                if record.object(forKey: key + "_ckAsset") != nil {
                    record[key + "_ckAsset"] = nil as CKAsset?
                }
            }
        }
        for (attribute, data, length) in large.sorted(by: { $0.2 < $1.2 }) {
            let key = "CD_" + attribute.name
            let isInline = size + length <= Self.inlineLimit
            if isInline { size += length }
            guard keys.contains(attribute.name) else { continue }
            if isInline {
                Self.set(object.values[attribute.name], key, attribute, record)
                if record.object(forKey: key + "_ckAsset") != nil {
                    record[key + "_ckAsset"] = nil as CKAsset?
                }
            } else {
                let file = folder.appendingPathComponent(UUID().uuidString)
                try data.write(to: file)
                Self.set(nil, key, attribute, record)
                record[key + "_ckAsset"] = CKAsset(fileURL: file)
            }
        }
        return record
    }

    private static func set(
        _ value: PhoneValue?,
        _ key: String,
        _ attribute: PhoneModel.Attribute,
        _ record: CKRecord
    ) {
        let object: (any __CKRecordObjCValue)? =
            switch value {
            case nil: nil
            case .int(let number)?: NSNumber(value: number)
            case .double(let number)?: NSNumber(value: number)
            case .text(let text)?: text as NSString
            case .date(let date)?: date as NSDate
            case .data(let data)?: data as NSData
            }
        if attribute.isEncrypted {
            record.encryptedValues.setObject(object, forKey: key)
        } else {
            record.setObject(object, forKey: key)
        }
    }

    func record(_ name: String, _ link: Link) -> CKRecord {
        let record = CKRecord(
            recordType: "CDMR",
            recordID: CKRecord.ID(recordName: name, zoneID: zone(of: name))
        )
        if moved.contains(name) { record["CD_moveReceipt"] = Self.receipt }
        let description = PhoneModel.manyToMany.first { $0.name == link.relationship }
        var ends = [
            (description?.entity ?? "", link.relationship, link.source),
            (description?.other ?? "", description?.inverse ?? "", link.target),
        ]
        ends.sort {
            ($0.0.lowercased(), $0.1.lowercased()) < ($1.0.lowercased(), $1.1.lowercased())
        }
        record["CD_entityNames"] = ends.map(\.0).joined(separator: ":")
        record["CD_relationships"] = ends.map(\.1).joined(separator: ":")
        record["CD_recordNames"] = ends.map(\.2).joined(separator: ":")
        return record
    }
}
