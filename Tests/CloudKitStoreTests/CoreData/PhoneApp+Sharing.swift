import CloudKit
import Foundation

extension PhoneApp {
    static let shareZonePrefix = "com.apple.coredata.cloudkit.share."

    /// The content of `CD_moveReceipt`; only Core Data reads it.
    static let receipt = Data("bplist00, of an archive that only Core Data reads".utf8)

    func database(of zone: CKRecordZone.ID) -> CKDatabase {
        zone.ownerName == CKCurrentUserDefaultName
            ? container.privateCloudDatabase : container.sharedCloudDatabase
    }

    func zone(of name: String) -> CKRecordZone.ID { zones[name] ?? Self.zoneID }

    /// The zones of the user's own shares, and of those of others.
    func sharedZones() async throws -> [CKRecordZone.ID] {
        let own = try await container.privateCloudDatabase.allRecordZones()
        let others = try await container.sharedCloudDatabase.allRecordZones()
        return (own + others).map(\.zoneID)
            .filter { $0.zoneName.hasPrefix(Self.shareZonePrefix) }
    }

    /// Notes the zone of an imported record, and returns whether it is the object's: of two, that in a zone which is
    /// shared.
    func find(_ name: String, in zone: CKRecordZone.ID) -> Bool {
        if zone == Self.zoneID { return zones[name] == nil }
        if known[name] != nil, zones[name] != zone { known[name] = nil }
        zones[name] = zone
        return true
    }

    /// Removes the objects of a zone that is gone.
    func leave(_ zone: CKRecordZone.ID) {
        for (name, other) in zones where other == zone { forget(name) }
        stopFetching(zone)
    }

    /// Puts new objects and links into the zone of the objects that they are connected with.
    func placeNew() {
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (name, object) in objects {
                for target in object.links.values where objects[target] != nil {
                    for (new, other) in [(name, target), (target, name)]
                    where known[new] == nil && zones[new] == nil {
                        guard let zone = zones[other] else { continue }
                        zones[new] = zone
                        hasChanged = true
                    }
                }
            }
            for (name, link) in links where addedLinks.contains(name) {
                let ends = [link.source, link.target]
                guard let zone = ends.lazy.compactMap({ self.zones[$0] }).first else { continue }
                for new in [name] + ends where zones[new] == nil && known[new] == nil {
                    zones[new] = zone
                    hasChanged = true
                }
            }
        }
    }

    /// Returns whether two objects are here, and in one zone.
    func mayConnect(_ one: String, _ other: String) -> Bool {
        objects[one] != nil && objects[other] != nil && zones[one] == zones[other]
    }

    // MARK: Sharing

    /// The first part of a move.
    enum MoveOrder: CaseIterable {
        case creates
        case deletes
    }

    /// Shares an object, with all that are connected with it, in a zone of its own.
    ///
    /// - Parameters:
    ///   - name: The object.
    ///   - permission: What everybody may do who has the link.
    ///   - renames: Whether the records get new names.
    ///   - order: What is done first.
    ///   - between: What happens between creating and deleting.
    /// - Returns: The share.
    @discardableResult
    func share(
        _ name: String,
        permission: CKShare.ParticipantPermission = .readWrite,
        renames: Bool = false,
        first order: MoveOrder = .creates,
        between: @Sendable () async throws -> Void = {}
    ) async throws -> CKShare {
        let id = CKRecordZone.ID(zoneName: Self.shareZonePrefix + newName())
        let database = container.privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: id))
        let share = CKShare(recordZoneID: id)
        share.publicPermission = permission
        guard let saved = try await database.save(share) as? CKShare else {
            throw Failure(description: "the share is no share")
        }
        try await move(
            connected(with: name),
            to: id,
            renames: renames,
            first: order,
            between: between
        )
        return saved
    }

    /// Moves the objects of a shared zone back into the app's own, and deletes the zone.
    func stopSharing(_ zone: CKRecordZone.ID) async throws {
        let names = Set(zones.filter { $0.value == zone }.keys)
        try await move(names, to: Self.zoneID, renames: false, first: .creates) {}
        _ = try await container.privateCloudDatabase.deleteRecordZone(withID: zone)
        stopFetching(zone)
    }

    /// The objects and links that relationships connect with an object.
    private func connected(with name: String) -> Set<String> {
        var found: Set<String> = [name]
        var count = 0
        while count < found.count {
            count = found.count
            for (name, object) in objects {
                let targets = object.links.values.filter { objects[$0] != nil }
                if found.contains(name) { found.formUnion(targets) }
                if targets.contains(where: found.contains) { found.insert(name) }
            }
            for (name, link) in links where !found.isDisjoint(with: [link.source, link.target]) {
                found.formUnion([name, link.source, link.target])
            }
        }
        return found.filter { objects[$0] != nil || links[$0] != nil }
    }

    /// Creates the records of objects and links in another zone, and deletes those in the first.
    private func move(
        _ names: Set<String>,
        to zone: CKRecordZone.ID,
        renames: Bool,
        first order: MoveOrder,
        between: @Sendable () async throws -> Void
    ) async throws {
        let before = names.filter { known[$0] != nil }.sorted()
            .map { CKRecord.ID(recordName: $0, zoneID: self.zone(of: $0)) }
        var new: [String: String] = [:]
        for name in names.sorted() { new[name] = renames ? newName() : name }
        if renames { rename(new) }
        var records: [CKRecord] = []
        for name in new.values.sorted() {
            known[name] = nil
            zones[name] = zone == Self.zoneID ? nil : zone
            moved.insert(name)
            if let object = objects[name] {
                records.append(
                    try record(name, object, Set(object.values.keys).union(object.links.keys))
                )
            } else if let link = links[name] {
                records.append(record(name, link))
            }
        }
        let database = container.privateCloudDatabase
        if order == .deletes {
            _ = try await database.modifyRecords(saving: [], deleting: before)
            try await between()
        }
        let (saves, _) = try await database.modifyRecords(saving: records, deleting: [])
        for (id, result) in saves {
            known[id.recordName] = try result.get()
            edited[id.recordName] = nil
            addedLinks.remove(id.recordName)
        }
        if order == .creates {
            try await between()
            _ = try await database.modifyRecords(saving: [], deleting: before)
        }
    }

    private func rename(_ new: [String: String]) {
        for (old, name) in new {
            objects[name] = objects.removeValue(forKey: old)
            links[name] = links.removeValue(forKey: old)
            edited[name] = edited.removeValue(forKey: old)
            known[old] = nil
            zones[old] = nil
        }
        for (name, object) in objects {
            objects[name]?.links = object.links.mapValues { new[$0] ?? $0 }
        }
        for (name, link) in links {
            links[name]?.source = new[link.source] ?? link.source
            links[name]?.target = new[link.target] ?? link.target
        }
    }
}
