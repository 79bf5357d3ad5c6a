import Foundation

extension SyncEngineState: Codable {
    /// The version of the format that this build writes, and the only one it reads.
    private static let version = 1

    /// The reason why a state cannot be used.
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
        /// The readable parts: the pending changes and their owner.
        var rest = SyncEngineState()

        /// Creates the reason for an error in a state, of which the rest is kept.
        init(_ error: any Error, in decoder: any Decoder) {
            let (rest, lostChanges) = SyncEngineState.salvaged(from: decoder)
            let reason = Unreadable(error).description
            self.init(
                lostChanges == 0
                    ? reason
                    : "\(reason), and \(lostChanges) of its pending changes cannot be read: edit "
                        + "their records again"
            )
            self.rest = rest
        }

        init(_ error: any Error) {
            switch error {
            case let error as Unreadable: self = error
            case DecodingError.keyNotFound(let key, _):
                description = "the sync state has no \(key.stringValue)"
            case DecodingError.typeMismatch(_, let context),
                DecodingError.dataCorrupted(let context),
                DecodingError.valueNotFound(_, let context):
                let path = context.codingPath.map(\.stringValue).joined(separator: ".")
                description = "the sync state is damaged at \(path): \(context.debugDescription)"
            default: description = "the sync state is damaged: \(error)"
            }
        }

        init(_ description: String) {
            self.description = description
        }
    }

    private enum Key: String, CodingKey {
        case version, container, scope, account, user, subscription, databaseToken, zones,
            unfetched, sent
        case pendingZones, pendingRecords, untracked
    }

    /// A zone, stored once and referred to by its index.
    private struct Zone: Codable {
        var name: String
        var owner: String
        var token: String?

        init(_ zoneID: CKRecordZone.ID, token: String?) {
            name = zoneID.zoneName
            owner = zoneID.ownerName
            self.token = token
        }

        func zoneID() throws -> CKRecordZone.ID {
            guard !name.isEmpty, !owner.isEmpty else {
                throw Unreadable("the sync state holds a zone without a name")
            }
            return CKRecordZone.ID(zoneName: name, ownerName: owner)
        }
    }

    /// A pending change: of a record if it has a name, otherwise of a zone.
    private struct Change: Codable {
        var zone: Int
        var save: String?
        var delete: String?

        func ofZone(_ zoneID: CKRecordZone.ID) -> CKSyncEngine.PendingDatabaseChange {
            delete == nil ? .saveZone(CKRecordZone(zoneID: zoneID)) : .deleteZone(zoneID)
        }

        /// Returns the change of a record; nil without the record's name.
        func ofRecord(in zoneID: CKRecordZone.ID) -> CKSyncEngine.PendingRecordZoneChange? {
            guard let name = save ?? delete, !name.isEmpty else { return nil }
            let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
            return save == nil ? .deleteRecord(recordID) : .saveRecord(recordID)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.version, forKey: .version)
        try container.encodeIfPresent(origin?.container, forKey: .container)
        try container.encodeIfPresent(origin?.scope.rawValue, forKey: .scope)
        try container.encode(account == .unknown ? "unknown" : "known", forKey: .account)
        try container.encodeIfPresent(account.user, forKey: .user)
        try container.encodeIfPresent(subscriptionID, forKey: .subscription)
        try container.encodeIfPresent(databaseToken?.token, forKey: .databaseToken)
        try container.encode(hasPendingUntrackedChanges, forKey: .untracked)

        var zones: [Zone] = []
        var places: [CKRecordZone.ID: Int] = [:]
        func place(_ zoneID: CKRecordZone.ID) -> Int {
            if let place = places[zoneID] { return place }
            places[zoneID] = zones.count
            zones.append(Zone(zoneID, token: zoneTokens[zoneID]?.token))
            return zones.count - 1
        }
        try container.encode(unfetchedZones.map(place), forKey: .unfetched)
        try container.encode(
            pendingDatabaseChanges.elements.map { change in
                Change(
                    zone: place(change.zoneID),
                    save: change.isDeletion ? nil : "",
                    delete: change.isDeletion ? "" : nil
                )
            },
            forKey: .pendingZones
        )
        try container.encode(
            pendingRecordZoneChanges.elements.map { change in
                let name = change.recordID.recordName
                return Change(
                    zone: place(change.recordID.zoneID),
                    save: change.isDeletion ? nil : name,
                    delete: change.isDeletion ? name : nil
                )
            },
            forKey: .pendingRecords
        )
        // A fixed order, so that the same state has the same bytes.
        let order = { (a: CKRecordZone.ID, b: CKRecordZone.ID) in
            (a.zoneName, a.ownerName) < (b.zoneName, b.ownerName)
        }
        try container.encode(sentZones.sorted(by: order).map(place), forKey: .sent)
        for zoneID in zoneTokens.keys.sorted(by: order) { _ = place(zoneID) }
        try container.encode(zones, forKey: .zones)
    }

    /// Returns the pending changes and their owner from a state that cannot be read as a whole, and
    /// the number of changes that cannot be read either.
    ///
    /// The server has everything else; only the state has the pending changes.
    private static func salvaged(
        from decoder: any Decoder
    ) -> (state: SyncEngineState, lostChanges: Int) {
        var state = SyncEngineState()
        var lost = 0
        // The reason is reported already; every part that can be read is kept.
        guard let container = try? decoder.container(keyedBy: Key.self) else { return (state, 0) }
        func part<Value: Decodable>(_ key: Key) -> Value? {
            // As above.
            try? container.decode(Value.self, forKey: key)
        }
        if let scope = part(.scope).flatMap(CKDatabase.Scope.init(rawValue:)) {
            state.origin = Origin(container: part(.container), scope: scope)
        }
        state.salvagedUser = part(.user)
        state.hasPendingUntrackedChanges = part(.untracked) ?? false
        let zones: [Lenient<Zone>] = part(.zones) ?? []
        func zoneID(_ place: Int) -> CKRecordZone.ID? {
            // A zone without a name has no changes that could be sent.
            zones.indices.contains(place) ? try? zones[place].value?.zoneID() : nil
        }
        func keep(_ key: Key, _ add: (Change, CKRecordZone.ID) -> Bool) {
            let changes: [Lenient<Change>] = part(key) ?? []
            for change in changes.map(\.value) {
                guard let change, let zoneID = zoneID(change.zone), add(change, zoneID) else {
                    lost += 1
                    continue
                }
            }
        }
        keep(.pendingZones) { change, zoneID in
            state.pendingDatabaseChanges.add(change.ofZone(zoneID))
            return true
        }
        keep(.pendingRecords) { change, zoneID in
            guard let change = change.ofRecord(in: zoneID) else { return false }
            state.pendingRecordZoneChanges.add(change)
            return true
        }
        return (state, lost)
    }

    /// An element that may be damaged.
    private struct Lenient<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws {
            // Its neighbours may be sound.
            value = try? Value(from: decoder)
        }
    }

    package init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: Key.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw Unreadable("the sync state is of version \(version), not \(Self.version)")
        }
        if let raw = try container.decodeIfPresent(Int.self, forKey: .scope) {
            guard let scope = CKDatabase.Scope(rawValue: raw) else {
                throw Unreadable("the sync state is of an unknown database, \(raw)")
            }
            let name = try container.decodeIfPresent(String.self, forKey: .container)
            origin = Origin(container: name, scope: scope)
        }
        if let user = try container.decodeIfPresent(String.self, forKey: .user) {
            account = .user(user)
        } else if try container.decode(String.self, forKey: .account) == "known" {
            account = .signedOut
        }
        subscriptionID = try container.decodeIfPresent(String.self, forKey: .subscription)
        databaseToken = try container.decodeIfPresent(String.self, forKey: .databaseToken)
            .map(CKServerChangeToken.init(token:))
        hasPendingUntrackedChanges = try container.decode(Bool.self, forKey: .untracked)
        try decodeZones(container)
    }

    private mutating func decodeZones(_ container: KeyedDecodingContainer<Key>) throws {
        let zones = try container.decode([Zone].self, forKey: .zones)
        let zoneIDs = try zones.map { try $0.zoneID() }
        for (zone, zoneID) in zip(zones, zoneIDs) {
            zoneTokens[zoneID] = zone.token.map(CKServerChangeToken.init(token:))
        }
        func zoneID(_ place: Int) throws -> CKRecordZone.ID {
            guard zoneIDs.indices.contains(place) else {
                throw Unreadable("the sync state names zone \(place) of \(zoneIDs.count)")
            }
            return zoneIDs[place]
        }
        for place in try container.decode([Int].self, forKey: .unfetched) {
            noteChanges(in: try zoneID(place))
        }
        for place in try container.decode([Int].self, forKey: .sent) {
            sentZones.insert(try zoneID(place))
        }
        for change in try container.decode([Change].self, forKey: .pendingZones) {
            pendingDatabaseChanges.add(change.ofZone(try zoneID(change.zone)))
        }
        for change in try container.decode([Change].self, forKey: .pendingRecords) {
            guard let change = change.ofRecord(in: try zoneID(change.zone)) else {
                throw Unreadable("the sync state holds a change of a record without a name")
            }
            pendingRecordZoneChanges.add(change)
        }
    }

    /// Returns the state to start an engine with, and the reason why a given one was not used.
    package static func restored(
        from serialization: CKSyncEngine.State.Serialization?,
        origin: Origin
    ) -> (state: SyncEngineState, problem: String?) {
        var fresh = SyncEngineState()
        fresh.origin = origin
        switch serialization?.contents {
        case nil: return (fresh, nil)
        case .failure(let problem)?:
            // The changes are of another database.
            guard problem.rest.origin == nil || problem.rest.origin == origin else {
                return (fresh, problem.description)
            }
            var rest = problem.rest
            rest.origin = origin
            return (rest, problem.description)
        case .success(var state)?:
            if let other = state.origin, other != origin {
                return (
                    fresh,
                    "the sync state is of the \(other.scope) database of "
                        + "\(other.container ?? "no container"), not of the \(origin.scope) one of "
                        + "\(origin.container ?? "no container")"
                )
            }
            state.origin = origin
            return (state, nil)
        }
    }
}
