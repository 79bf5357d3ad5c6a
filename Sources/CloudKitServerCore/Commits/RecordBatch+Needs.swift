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
        needs.zone(name) { addContents(call, to: &$0) }
    }

    /// Announces the rows that the commit reads, once the zone is known.
    func prepare(in zone: ZoneView, _ call: Call, _ writer: any StorageWriter) throws {
        // Nothing in a default zone can be shared.
        guard !zone.isDefault else { return }
        let zoneID = zone.zone.id
        try writer.prepare {
            var needs = StorageNeeds()
            ShareDirectory(environment: call.environment.id)
                .addNeeds(ofMembersOf: zoneID, to: &needs)
            if zone.viewer != nil { needs.zone(zoneID) { addContents(call, to: &$0) } }
            return needs
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
