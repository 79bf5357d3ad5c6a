import CloudKit

/// A model of CloudKit's rules for engines, small enough to run thousands of times per second: tags,
/// zones, change feeds with pages and tokens, tombstones, several users.
struct ModelCloud {
    struct Record {
        var fields: [Int]
        var tag: Int
        var sequence: Int
    }

    struct Zone {
        var life: Int
        var sequence = 0
        var records: [String: Record] = [:]
        var tombstones: [String: Int] = [:]
        /// The number of expirations: tokens of an earlier epoch have expired.
        var epoch = 0
    }

    struct Database {
        var life = 1
        var sequence = 0
        var zones: [String: Zone] = [:]
        var changes: [String: Int] = [:]
        var deletions: [String: Int] = [:]
    }

    private(set) var databases: [String: Database] = [:]
    private var lastTag = 0
    private var lastLife = 0
    /// The number of entries in a page of a feed.
    let pageSize: Int
    /// `true` when a zone may be created under the name of one that was deleted.
    let makesZonesAgain: Bool

    init(pageSize: Int, makesZonesAgain: Bool) {
        self.pageSize = pageSize
        self.makesZonesAgain = makesZonesAgain
    }

    // MARK: What happens to the server

    /// Expires all tokens of a user's database.
    mutating func expireDatabaseToken(of user: String) {
        databases[user, default: .init()].life += 1
    }

    /// Expires the tokens of a zone.
    mutating func expireZoneTokens(of user: String, _ name: String) {
        guard var zone = databases[user]?.zones[name] else { return }
        zone.epoch += 1
        databases[user]?.zones[name] = zone
        touch(user, name)
    }

    // MARK: Requests

    mutating func response(
        _ request: SyncRequest,
        user: String,
        failing: (CKRecord.ID) -> CKError? = { _ in nil }
    ) -> SyncResponse {
        switch request {
        case .identifyUser: .user(user)
        case .subscribe(let name): .subscribed(name ?? "model")
        case .databaseChanges(let token): databaseChanges(user, token)
        case .zoneChanges(let zoneID, let token): zoneChanges(user, zoneID, token)
        case .modifyZones(let saving, let deleting): modifyZones(user, saving, deleting)
        case .modifyRecords(let batch): modifyRecords(user, batch, failing)
        }
    }

    private mutating func touch(_ user: String, _ name: String) {
        var database = databases[user] ?? Database()
        database.sequence += 1
        database.changes[name] = database.sequence
        databases[user] = database
    }

    private mutating func databaseChanges(
        _ user: String,
        _ token: CKServerChangeToken?
    ) -> SyncResponse {
        let database = databases[user, default: .init()]
        var start = 0
        if let token {
            let parts = token.text.split(separator: ":")
            guard parts.count == 3, parts[0] == "d" else {
                return .failure(CKError(.invalidArguments))
            }
            guard parts[1] == "\(database.life)" else {
                return .failure(CKError(.changeTokenExpired))
            }
            start = Int(parts[2]) ?? 0
        }
        var entries: [(sequence: Int, name: String, isDeletion: Bool)] = []
        for (name, sequence) in database.changes where sequence > start {
            entries.append((sequence, name, false))
        }
        if token != nil {
            for (name, sequence) in database.deletions where sequence > start {
                entries.append((sequence, name, true))
            }
        }
        entries.sort { $0.sequence < $1.sequence }
        let page = entries.prefix(pageSize)
        let end = entries.count > pageSize ? page.last?.sequence ?? start : database.sequence
        return .databaseChanges(
            .init(
                modifications: page.filter { !$0.isDeletion }.map { .init(zoneName: $0.name) },
                deletions: page.filter(\.isDeletion).map {
                    .reported(CKRecordZone.ID(zoneName: $0.name))
                },
                token: CKServerChangeToken(text: "d:\(database.life):\(end)"),
                moreComing: entries.count > pageSize
            )
        )
    }

    private mutating func zoneChanges(
        _ user: String,
        _ zoneID: CKRecordZone.ID,
        _ token: CKServerChangeToken?
    ) -> SyncResponse {
        guard let zone = databases[user]?.zones[zoneID.zoneName] else {
            return .failure(CKError(.zoneNotFound))
        }
        var start = 0
        if let token {
            let parts = token.text.split(separator: ":")
            guard parts.count == 4, parts[0] == "z" else {
                return .failure(CKError(.invalidArguments))
            }
            start = Int(parts[3]) ?? 0
            guard parts[1] == "\(zone.life)", parts[2] == "\(zone.epoch)" else {
                return .failure(CKError(.changeTokenExpired))
            }
        }
        var entries: [(sequence: Int, name: String, record: Record?)] = []
        for (name, record) in zone.records where record.sequence > start {
            entries.append((record.sequence, name, record))
        }
        // From the beginning too, like this package's server: otherwise a device that has sent a
        // record and never fetched would not receive its deletion.
        for (name, sequence) in zone.tombstones where sequence > start {
            entries.append((sequence, name, nil))
        }
        entries.sort { $0.sequence < $1.sequence }
        let page = entries.prefix(pageSize)
        let end = entries.count > pageSize ? page.last?.sequence ?? start : zone.sequence
        var records: [CKRecord] = []
        var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
        for entry in page {
            let recordID = CKRecord.ID(recordName: entry.name, zoneID: zoneID)
            if let record = entry.record {
                records.append(native(record, recordID))
            } else {
                deletions.append(.reported(recordID, "Row"))
            }
        }
        return .zoneChanges(
            .init(
                modifications: records,
                deletions: deletions,
                token: CKServerChangeToken(text: "z:\(zone.life):\(zone.epoch):\(end)"),
                moreComing: entries.count > pageSize
            )
        )
    }

    private func native(_ record: Record, _ recordID: CKRecord.ID) -> CKRecord {
        let native = CKRecord(recordType: "Row", recordID: recordID)
        for (index, value) in record.fields.enumerated() { native["f\(index)"] = value }
        native.acknowledge(changeTag: "\(record.tag)")
        return native
    }

    private mutating func modifyZones(
        _ user: String,
        _ saving: [CKRecordZone],
        _ deleting: [CKRecordZone.ID]
    ) -> SyncResponse {
        var response = SyncResponse.ModifiedZones()
        for zone in saving {
            let name = zone.zoneID.zoneName
            if databases[user]?.zones[name] == nil {
                guard makesZonesAgain || databases[user]?.deletions[name] == nil else {
                    response.saves[zone.zoneID] = .failure(CKError(.userDeletedZone))
                    continue
                }
                lastLife += 1
                databases[user, default: .init()].zones[name] = Zone(life: lastLife)
                touch(user, name)
            }
            response.saves[zone.zoneID] = .success(zone)
        }
        for zoneID in deleting {
            if databases[user]?.zones.removeValue(forKey: zoneID.zoneName) != nil {
                touch(user, zoneID.zoneName)
                let sequence = databases[user]?.changes.removeValue(forKey: zoneID.zoneName)
                databases[user]?.deletions[zoneID.zoneName] = sequence
            }
            response.deletions[zoneID] = .success(())
        }
        return .modifiedZones(response)
    }

    private mutating func modifyRecords(
        _ user: String,
        _ batch: CKSyncEngine.RecordZoneChangeBatch,
        _ failing: (CKRecord.ID) -> CKError?
    ) -> SyncResponse {
        var response = SyncResponse.ModifiedRecords()
        for record in batch.recordsToSave {
            response.saves[record.recordID] =
                failing(record.recordID).map(Result.failure) ?? save(record, user)
        }
        for recordID in batch.recordIDsToDelete {
            response.deletions[recordID] =
                failing(recordID).map(Result.failure) ?? delete(recordID, user)
        }
        return .modifiedRecords(response)
    }

    private mutating func save(_ record: CKRecord, _ user: String) -> Result<CKRecord, CKError> {
        let name = record.recordID.zoneID.zoneName
        guard var zone = databases[user]?.zones[name] else {
            return .failure(CKError(.zoneNotFound))
        }
        let stored = zone.records[record.recordID.recordName]
        if record.recordChangeTag != stored.map({ "\($0.tag)" }) {
            guard let stored else { return .failure(CKError(.unknownItem)) }
            let server = native(stored, record.recordID)
            return .failure(
                CKError(
                    .serverRecordChanged,
                    userInfo: [CKRecordChangedErrorServerRecordKey: server]
                )
            )
        }
        lastTag += 1
        zone.sequence += 1
        zone.tombstones[record.recordID.recordName] = nil
        zone.records[record.recordID.recordName] = Record(
            fields: (0..<2).map { (record["f\($0)"] as Int?) ?? 0 },
            tag: lastTag,
            sequence: zone.sequence
        )
        databases[user]?.zones[name] = zone
        touch(user, name)
        record.acknowledge(changeTag: "\(lastTag)")
        return .success(record)
    }

    private mutating func delete(_ recordID: CKRecord.ID, _ user: String) -> Result<Void, CKError> {
        let name = recordID.zoneID.zoneName
        guard var zone = databases[user]?.zones[name] else {
            return .failure(CKError(.zoneNotFound))
        }
        if zone.records.removeValue(forKey: recordID.recordName) != nil {
            zone.sequence += 1
            zone.tombstones[recordID.recordName] = zone.sequence
            databases[user]?.zones[name] = zone
            touch(user, name)
        }
        return .success(())
    }
}
