import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One operation of `zones/modify` inside its commit.
struct ZoneCommit {
    let call: Call
    let writer: any StorageWriter
    let seal: TokenSeal
    let randomness: any ServiceRandomness
    /// The reason for deletions that no app requested.
    let reason: ZoneDeletionReason?
    /// The news to announce after the commit.
    private(set) var news = PushNews()

    init(
        call: Call,
        writer: any StorageWriter,
        seal: TokenSeal,
        randomness: any ServiceRandomness,
        reason: ZoneDeletionReason? = nil
    ) {
        self.call = call
        self.writer = writer
        self.seal = seal
        self.randomness = randomness
        self.reason = reason
    }

    /// Creates or deletes the zone.
    ///
    /// - Throws: `RequestError` about the zone, before anything is written.
    mutating func apply(_ operation: ModifyZonesRequest.Operation) throws -> WireZone {
        let id = operation.zone.zoneID
        let directory = ZoneDirectory(call: call, reader: writer)
        guard directory.isOwnedByCaller(id) else {
            throw RequestError(.accessDenied, reason: "Zone \(id.zoneName) belongs to another user")
        }
        guard !id.isDefault else {
            throw RequestError(.badRequest, reason: "The default zone cannot be created or deleted")
        }
        if let problem = NameRules.zoneName(id.zoneName) {
            throw RequestError(.badRequest, reason: problem)
        }
        let database = try directory.database()
        let found = try writer.zone(database.id, name: id.zoneName)
        return switch operation.operationType {
        case .create: try create(id.zoneName, found, database, directory.ownerName)
        case .delete: try delete(id, found, database, directory.ownerName)
        }
    }

    /// Deletes all zones of the caller's database, the default zone too.
    mutating func deleteAll() throws {
        let directory = ZoneDirectory(call: call, reader: writer)
        let database = try directory.database()
        for zone in try writer.zones(database.id) {
            let view = ZoneView(zone, in: database, owner: directory.ownerName)
            _ = try delete(view.id, zone, directory.database(), directory.ownerName)
        }
    }

    private mutating func create(
        _ name: String,
        _ found: StoredZone?,
        _ database: StoredDatabase,
        _ owner: String
    ) throws -> WireZone {
        // An existing zone is returned as it is: any device may be the first to create it.
        if let found, !found.isDeleted {
            return try ZoneView(found, in: database, owner: owner).wire(call, seal, writer)
        }
        let sequence = database.headSequence + 1
        try writer.setHeadSequence(database.id, sequence)
        var zone: StoredZone
        // The row is used again, with the next incarnation, by which the tokens of the former zone
        // expire.
        if var again = found {
            again.isDeleted = false
            again.incarnation += 1
            again.changeSequence = sequence
            again.birthSequence = sequence
            try writer.updateZone(again)
            zone = again
        } else {
            zone = try writer.addZone(
                StoredZone(
                    id: RowID(rawValue: 0),
                    database: database.id,
                    name: name,
                    incarnation: 1,
                    headSequence: database.headSequence,
                    changeSequence: sequence,
                    isDeleted: false,
                    birthSequence: sequence
                )
            )
        }
        let view = ZoneView(zone, in: database, owner: owner)
        try notify(of: view)
        return try view.wire(call, seal, writer)
    }

    private mutating func delete(
        _ id: WireZoneID,
        _ found: StoredZone?,
        _ database: StoredDatabase,
        _ owner: String
    ) throws -> WireZone {
        guard var zone = found, !zone.isDeleted else {
            throw RequestError(.zoneNotFound, reason: "Zone does not exist: \(id.zoneName)")
        }
        let sequence = database.headSequence + 1
        try writer.setHeadSequence(database.id, sequence)
        zone.deletionReason = reason
        zone.changeSequence = sequence
        try writer.removeZone(zone)
        zone.isDeleted = true
        zone.bytes = 0
        let view = ZoneView(zone, in: database, owner: owner)
        try notify(of: view)
        // After the notifications, which members are to receive, too.
        let shares = ShareDirectory(environment: call.environment.id)
        try shares.removeMembers(shares.members(of: zone.id, writer), of: zone.id, writer)
        return WireZone(zoneID: view.id, deleted: true)
    }

    private mutating func notify(of zone: ZoneView) throws {
        var push = PushCommit(
            call: call,
            writer: writer,
            zone: zone,
            schema: try Schema(nil),
            randomness: randomness
        )
        try push.notifyOfZone()
        news.formUnion(push.news)
    }
}

extension StorageWriter {
    /// Removes the contents of a zone, and marks it as deleted.
    func removeZone(_ zone: StoredZone) throws {
        var zone = zone
        try removeContents(of: zone.id)
        zone.isDeleted = true
        zone.bytes = 0
        try updateZone(zone)
    }
}
