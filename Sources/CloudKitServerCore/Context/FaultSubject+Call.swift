import CloudKitWire

extension FaultSubject {
    /// Creates the subject of a call, with the items that its body names.
    init(_ call: Call, _ endpoint: Endpoint) {
        self.init(operation: endpoint.rawValue)
        if let user = call.caller.user {
            userNames = [user.recordName, user.fullName]
        }
        hasSession = call.caller.webToken != nil
        // If the body cannot be decoded, the endpoint refuses it.
        let body = try? call.message(Body.self)
        items = body?.items ?? []
    }

    /// The parts of all request bodies that name their items.
    private struct Body: Decodable {
        struct Zone: Decodable {
            var zoneID: ZoneName?
        }

        struct ZoneName: Decodable {
            var zoneName: String?
        }

        struct Record: Decodable {
            var recordType: String?
            var recordChangeTag: String?
            var zoneID: ZoneName?
        }

        struct Query: Decodable {
            var query: Record?
            var zoneID: ZoneName?
        }

        struct Change: Decodable {
            var operationType: String?
            var record: Record?
            var zone: Zone?

            /// `true` when the operation is refused where the tag is not the record's.
            var comparesTag: Bool {
                operationType.flatMap(RecordOperation.OperationType.init)?.checksTag == true
                    && record?.recordChangeTag != nil
            }
        }

        var zoneID: ZoneName?
        var operations: [Change]?
        var records: [Record]?
        var tokens: [Record]?
        var zones: [Zone]?
        var query: Record?
        var batch: [Query]?
        var sourceZoneID: ZoneName?

        var items: [Item] {
            let zone = (zoneID ?? sourceZoneID)?.zoneName ?? WireZoneID.defaultZoneName
            func item(_ record: Record?, _ own: ZoneName? = nil) -> Item {
                Item(
                    recordType: record?.recordType,
                    zone: record?.zoneID?.zoneName ?? own?.zoneName ?? zone
                )
            }
            if let operations {
                return operations.map { change in
                    var item = item(change.record, change.zone?.zoneID)
                    item.comparesTag = change.comparesTag
                    return item
                }
            }
            if let records = records ?? tokens { return records.map { item($0) } }
            if let zones { return zones.map { item(nil, $0.zoneID) } }
            if let batch { return batch.map { item($0.query, $0.zoneID) } }
            return [item(query)]
        }
    }
}
