import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of a database's change feed: `changes/database` and `zones/changes`.
struct DatabaseChangesEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `changes/database`: returns the zones that changed, each once, oldest change first.
    func changes(_ call: Call) async throws -> Data {
        let request = try call.message(DatabaseChangesRequest.self)
        return try WireJSON.encode(try await databasePage(request, call))
    }

    /// Handles `zones/changes`: the same with another name for the token.
    func changesInOlderForm(_ call: Call) async throws -> Data {
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
        try call.checkIsNotPublic()
        if call.path.database == .shared {
            return try await sharedDatabaseChanges(call, after: request.syncToken)
        }
        let seal = try await context.seal()
        let limit = Limits.pageSize(request.resultsLimit)
        let namesReason = call.parameters.isTrue("deletionReasons")
        return try await context.read(call) { reader in
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

    /// Handles `changes/database` on the shared database: returns zones that changed, appeared or
    /// disappeared.
    private func sharedDatabaseChanges(
        _ call: Call,
        after text: String?
    ) async throws -> DatabaseChangesResponse {
        let user = try call.user()
        let seal = try await context.seal()
        return try await context.read(call) { reader in
            // The generation of the user's private database changes with all others of the environment.
            let own = try reader.database(call.environment.id, owner: user.id)
            let incarnation = own?.incarnation ?? 0
            var token = SharedDatabaseToken(user: user.id.rawValue, incarnation: incarnation)
            if let text {
                guard let open = SharedDatabaseToken.open(text, with: seal) else {
                    throw RequestError(
                        .badRequest,
                        reason: "Unknown sync continuation type: the syncToken is not one of this "
                            + "database"
                    )
                }
                guard open.user == token.user, open.incarnation == incarnation else {
                    throw RequestError(
                        .changeTokenExpired,
                        reason: "The syncToken belongs to another user, or to an earlier state of "
                            + "the database; start without one"
                    )
                }
                token = open
            }
            let views = try ZoneDirectory(call: call, reader: reader).zones()
            let directory = ShareDirectory(environment: call.environment.id)
            var zones: [WireZone] = []
            var next = SharedDatabaseToken(user: token.user, incarnation: incarnation)
            for view in views {
                let id = view.zone.id.rawValue
                next.seen[id] = view.zone.changeSequence
                let seen = token.seen[id]
                guard seen != view.zone.changeSequence else { continue }
                // The client's data of the zone is from an earlier participation, which has ended since.
                if let seen, try seen < directory.joining(of: user.id, in: view.zone.id, reader) {
                    zones.append(WireZone(zoneID: view.id, deleted: true))
                }
                zones.append(view.changed)
            }
            for id in token.seen.keys.sorted() where next.seen[id] == nil {
                guard let zone = try reader.zone(RowID(rawValue: id)),
                    let database = try reader.database(zone.database),
                    let owner = try database.owner.flatMap({ try reader.user($0) })
                else { continue }
                let view = ZoneView(zone, in: database, owner: owner.recordName)
                zones.append(WireZone(zoneID: view.id, deleted: true))
            }
            return DatabaseChangesResponse(
                zones: zones,
                syncToken: next.sealed(by: seal),
                moreComing: false
            )
        }
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
