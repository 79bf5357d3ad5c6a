import CloudKitWire

// What the commit of a batch reads, as far as the request shows it.
extension RecordBatch {
    /// Adds the rows that the commit reads.
    func addNeeds(
        _ call: Call,
        _ configuration: ServiceConfiguration,
        to needs: inout StorageNeeds
    ) {
        if let key = needs.database {
            let quota =
                key.owner == nil
                ? configuration.publicQuotaBytes : configuration.userQuotaBytes
            needs.listsZones = quota != nil
            addSubscriptions(of: key, to: &needs)
        }
        guard let name = call.ownZoneName(zone) else { return }
        needs.zone(name) { contents in
            addContents(call, to: &contents)
            // Nothing in a default zone can be shared.
            guard !zone.isDefault else { return }
            ShareDirectory(environment: call.environment.id).addMembers(to: &contents)
        }
    }

    /// Announces the rows that the commit reads, once the zone is known.
    func prepare(in zone: ZoneView, _ call: Call, _ writer: any StorageWriter) throws {
        try writer.prepare { reader in
            let id = zone.zone.id
            var needs = StorageNeeds()
            // Nothing in a default zone can be shared.
            if !zone.isDefault {
                ShareDirectory(environment: call.environment.id)
                    .addNeeds(ofMembersOf: id, to: &needs)
            }
            if zone.viewer != nil { needs.zone(id) { addContents(call, to: &$0) } }
            if items.contains(where: \.operation.operationType.isDelete) {
                try reader.prepare { _ in needs }
                needs = try needsOfDeletions(in: zone, reader)
            }
            return needs
        }
    }

    /// Finds out which records go with those that the batch deletes, level by level and all at once, and
    /// returns what their deletion reads.
    private func needsOfDeletions(
        in zone: ZoneView,
        _ reader: any StorageReader
    ) throws -> StorageNeeds {
        let id = zone.zone.id
        var level = try items.filter(\.operation.operationType.isDelete)
            .compactMap { try reader.record(id, name: $0.name) }.filter { !$0.isDeleted }
        var seen = Set(level.map(\.id))
        var room = Self.announcedBytes
        var needs = StorageNeeds()
        while !level.isEmpty, room > 0 {
            var (sources, rest): ([RowID<StoredRecord>], [RowID<StoredRecord>]) = ([], [])
            for reference in try references(to: level, in: zone, reader)
            where seen.insert(reference.source).inserted {
                if reference.kind == .deleteSelf {
                    sources.append(reference.source)
                } else {
                    rest.append(reference.source)
                }
            }
            let shares = level.compactMap(\.share)
            try reader.prepare { _ in
                var heads = StorageNeeds()
                heads.zone(id) { $0.heads = sources }
                return heads
            }
            let heads = try sources.compactMap { try reader.head(of: $0, in: id) }
            // As many as memory has room for without doubt.
            let rows = heads.prefix { head in
                room -= 256 + head.fieldBytes
                return room > 0
            }
            needs.zone(id) { contents in
                contents.records += shares
                contents.rows += rows.map(\.record.id) + rest.prefix(Self.announcedOthers)
            }
            level = heads.map(\.record).filter { !$0.isDeleted }
        }
        return needs
    }

    /// The number of bytes, and of records that keep others, which are announced at most.
    private static let announcedBytes = 4 << 20
    private static let announcedOthers = 200

    private func references(
        to targets: [StoredRecord],
        in zone: ZoneView,
        _ reader: any StorageReader
    ) throws -> [StoredReference] {
        let keys = targets.compactMap { target in
            References.circle(of: target.created.user, in: zone.database)
                .map { StorageNeeds.ReferenceKey(to: target.name, in: $0) }
        }
        try reader.prepare { _ in
            var needs = StorageNeeds()
            needs.zone(zone.zone.id) { $0.references = keys }
            return needs
        }
        return try keys.flatMap {
            try reader.references(zone.zone.id, to: $0.target, in: $0.circle)
        }
    }

    private func addSubscriptions(of key: DatabaseKey, to needs: inout StorageNeeds) {
        if let owner = key.owner {
            SubscriptionCollection(of: owner, to: .private, in: key.environment)
                .addNeeds(to: &needs)
            return
        }
        for type in Set(items.compactMap(\.operation.record.recordType)) {
            SubscriptionCollection.addNeeds(
                ofUsersWatching: type,
                in: key.environment,
                to: &needs
            )
        }
    }

    private func addContents(_ call: Call, to contents: inout StorageNeeds.Contents) {
        // In a database with an owner the circle is that of all creators.
        let circle = call.path.database == .public ? call.stamp.user : ""
        contents.hasShares = !zone.isDefault
        contents.records.reserveCapacity(items.count)
        for item in items {
            contents.records.append(item.name)
            let record = item.operation.record
            if item.operation.operationType.isDelete {
                contents.references.append(.init(to: item.name, in: circle))
                continue
            }
            if let base = item.base { contents.records.append(base) }
            for reference in RecordFields(record.fields).references where reference.action != nil {
                contents.records.append(reference.recordName)
                contents.referenceCounts.append(.init(to: reference.recordName, in: circle))
            }
        }
    }
}
