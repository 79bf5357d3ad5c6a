import CloudKitWire

/// A position in the change feed of a shared database: the newest change seen of each zone.
///
/// The zones belong to different databases, so a single number is not enough.
struct SharedDatabaseToken: Hashable {
    var user: Int64
    /// The generation of the user's databases.
    var incarnation: Int64
    /// The number of the newest change seen, by zone.
    var seen: [Int64: Int64] = [:]

    func sealed(by seal: TokenSeal) -> String {
        var writer = TokenWriter()
        writer.append(user)
        writer.append(incarnation)
        writer.append(Int64(seen.count))
        for (zone, sequence) in seen.sorted(by: { $0.key < $1.key }) {
            writer.append(zone)
            writer.append(sequence)
        }
        return seal.seal(writer.bytes, for: .sharedChanges)
    }

    /// Opens a token; returns nil if this service did not create it.
    static func open(_ text: String, with seal: TokenSeal) -> Self? {
        guard let contents = seal.open(text, for: .sharedChanges) else { return nil }
        var reader = TokenReader(contents)
        guard let user = reader.number(), let incarnation = reader.number(),
            let count = reader.number(), count >= 0
        else { return nil }
        var token = Self(user: user, incarnation: incarnation)
        for _ in 0..<count {
            guard let zone = reader.number(), let sequence = reader.number() else { return nil }
            token.seen[zone] = sequence
        }
        return reader.isAtEnd ? token : nil
    }
}

extension CloudService {
    /// Handles `changes/database` on the shared database: returns zones that changed, appeared or
    /// disappeared.
    func sharedDatabaseChanges(
        _ call: Call,
        after text: String?
    ) async throws -> DatabaseChangesResponse {
        let user = try call.user()
        let seal = try await seal()
        return try await read(call) { reader in
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
