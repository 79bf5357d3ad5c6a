import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Handles `changes/database`: returns the zones that changed, each once, oldest change first.
    func databaseChanges(_ call: Call) async throws -> Data {
        let request = try call.message(DatabaseChangesRequest.self)
        return try WireJSON.encode(try await databasePage(request, call))
    }

    /// Handles `zones/changes`: the same with another name for the token.
    func olderZoneChanges(_ call: Call) async throws -> Data {
        let older = try call.message(OlderZoneChangesRequest.self)
        let request = DatabaseChangesRequest(
            syncToken: older.metaSyncToken,
            resultsLimit: older.resultsLimit
        )
        let page = try await databasePage(request, call)
        return try WireJSON.encode(
            OlderZoneChangesResponse(
                zones: page.zones,
                metaSyncToken: page.syncToken,
                moreComing: page.moreComing ?? false
            )
        )
    }

    private func databasePage(
        _ request: DatabaseChangesRequest,
        _ call: Call
    ) async throws -> DatabaseChangesResponse {
        guard call.path.database != .public else {
            throw RequestError(
                .badRequest,
                reason: "endpoint not applicable in the database type 'publicdb'"
            )
        }
        if call.path.database == .shared {
            return try await sharedDatabaseChanges(call, after: request.syncToken)
        }
        let seal = try await seal()
        let limit = Self.pageSize(request.resultsLimit)
        let namesReason = call.parameters.isTrue("deletionReasons")
        return try await read(call) { reader in
            let directory = ZoneDirectory(call: call, reader: reader)
            let database = try directory.database()
            let start = try Self.start(request.syncToken, in: database, seal)
            let zones = try reader.changedZones(database.id, after: start, limit: limit + 1)
            let shown = zones.prefix(limit)
            let token = SyncToken(
                feed: database.id.rawValue,
                incarnation: database.incarnation,
                sequence: shown.last?.changeSequence ?? start
            )
            return DatabaseChangesResponse(
                zones: shown.flatMap { zone in
                    let view = ZoneView(zone, in: database, owner: directory.ownerName)
                    let deleted = view.deleted(namesReason: namesReason)
                    if zone.isDeleted { return [deleted] }
                    guard start > 0, zone.isAnother(since: start) else { return [view.changed] }
                    // The client's data belongs to a deleted generation of the zone.
                    return [deleted, view.changed]
                },
                syncToken: token.sealed(by: seal, for: .databaseChanges),
                moreComing: zones.count > limit
            )
        }
    }

    private static func start(
        _ text: String?,
        in database: StoredDatabase,
        _ seal: TokenSeal
    ) throws -> Int64 {
        guard let text else { return 0 }
        guard let token = SyncToken.open(text, with: seal, for: .databaseChanges) else {
            throw RequestError(
                .badRequest,
                reason: "Unknown sync continuation type: the syncToken is not one of this database"
            )
        }
        guard token.feed == database.id.rawValue, token.incarnation == database.incarnation,
            token.sequence <= database.headSequence
        else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken belongs to another user, or to an earlier state of the "
                    + "database; start without one"
            )
        }
        return token.sequence
    }

    /// Returns the size of a page: the requested number, up to the limit.
    static func pageSize(_ asked: Int?) -> Int {
        min(max(asked ?? Limits.recordsPerResponse, 1), Limits.recordsPerResponse)
    }
}

extension StoredZone {
    /// Returns whether the zone was deleted after a position in its database's feed, and created again.
    fileprivate func isAnother(since sequence: Int64) -> Bool {
        !isDeleted && incarnation > 1 && birthSequence > sequence
    }
}

/// The body of `zones/changes`.
private struct OlderZoneChangesRequest: Decodable {
    let metaSyncToken: String?
    let resultsLimit: Int?
}

/// The response of `zones/changes`.
private struct OlderZoneChangesResponse: Encodable {
    let zones: [WireZone]
    let metaSyncToken: String
    let moreComing: Bool
}
