import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// `changes/database`: the zones that changed, each once, oldest change first.
    func databaseChanges(_ call: Call) async throws -> Data {
        let request = try call.message(DatabaseChangesRequest.self)
        guard call.path.database != .public else {
            throw RequestError(
                .badRequest,
                reason: "endpoint not applicable in the database type 'publicdb'"
            )
        }
        let seal = try await seal()
        let limit = Self.pageSize(request.resultsLimit)
        let page = try await storage.read { reader in
            let directory = ZoneDirectory(call: call, reader: reader)
            let database = try directory.database()
            let start = try Self.start(request.syncToken, in: database, seal)
            let zones =
                call.path.database == .shared
                ? []
                : try reader.changedZones(database.id, after: start, limit: limit + 1)
            let shown = zones.prefix(limit)
            let token = SyncToken(
                feed: database.id.rawValue,
                incarnation: database.incarnation,
                sequence: shown.last?.changeSequence ?? start
            )
            return DatabaseChangesResponse(
                zones: shown.map { zone in
                    let view = ZoneView(zone, in: database, owner: directory.ownerName)
                    return zone.isDeleted
                        ? WireZone(zoneID: view.id, deleted: true) : view.wire(seal)
                },
                syncToken: token.sealed(by: seal, for: .databaseChanges),
                moreComing: zones.count > limit
            )
        }
        return try WireJSON.encode(page)
    }

    private static func start(
        _ text: String?,
        in database: StoredDatabase,
        _ seal: TokenSeal
    ) throws -> Int64 {
        guard let text else { return 0 }
        guard let token = SyncToken.open(text, with: seal, for: .databaseChanges),
            token.feed == database.id.rawValue
        else {
            throw RequestError(
                .badRequest,
                reason: "Unknown sync continuation type: the syncToken is not one of this database"
            )
        }
        guard token.incarnation == database.incarnation, token.sequence <= database.headSequence
        else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken belongs to an earlier life of the database; start without "
                    + "one"
            )
        }
        return token.sequence
    }

    /// The size of a page: what was asked for, within the limit.
    static func pageSize(_ asked: Int?) -> Int {
        min(max(asked ?? Limits.recordsPerResponse, 1), Limits.recordsPerResponse)
    }
}
