import CloudKitWire

/// One page of a zone's change feed.
struct ZoneChangesPage {
    let zone: ZoneView
    let records: [StoredRecord]
    let next: SyncToken
    let hasMore: Bool

    /// Reads the page behind a token.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` or `CHANGE_TOKEN_EXPIRED`.
    init(
        of zone: ZoneView,
        after text: String?,
        isReverse: Bool,
        limit: Int,
        _ seal: TokenSeal,
        _ reader: any StorageReader
    ) throws {
        self.zone = zone
        let start = try Self.start(text, in: zone, isReverse: isReverse, seal, reader)
        let found =
            start.isReverse
            ? try reader.changedRecords(zone.zone.id, before: start.sequence, limit: limit + 1)
            : try reader.changedRecords(zone.zone.id, after: start.sequence, limit: limit + 1)
        hasMore = found.count > limit
        records = Array(found.prefix(limit))
        next = zone.syncToken(
            after: records.last?.sequence ?? start.sequence,
            isReverse: start.isReverse
        )
    }

    private static func start(
        _ text: String?,
        in zone: ZoneView,
        isReverse: Bool,
        _ seal: TokenSeal,
        _ reader: any StorageReader
    ) throws -> SyncToken {
        let fresh = zone.syncToken(
            after: isReverse ? zone.zone.headSequence + 1 : 0,
            isReverse: isReverse
        )
        guard let text else { return fresh }
        let open = SyncToken.open(text, with: seal, for: .zoneChanges)
        // A zone whose row is gone was removed by a reset: this one has its name since.
        let isGone = try open.map { try reader.zone(RowID(rawValue: $0.feed)) == nil } ?? false
        guard let token = open, isGone || token.feed == fresh.feed,
            token.viewer == nil || token.viewer == fresh.viewer
        else {
            throw RequestError(
                .badRequest,
                reason: "Unknown sync continuation type: the syncToken is not one of zone "
                    + "'\(zone.id.zoneName)'"
            )
        }
        // A token without a viewer is the owner's, or was given to a viewer before tokens named them.
        guard token.viewer == fresh.viewer else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken does not belong to what the caller sees of zone "
                    + "'\(zone.id.zoneName)'; start without one"
            )
        }
        guard !isGone, token.incarnation == fresh.incarnation,
            token.sequence <= zone.zone.headSequence + (token.isReverse ? 1 : 0)
        else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken belongs to an earlier life of zone '\(zone.id.zoneName)'; "
                    + "start without one"
            )
        }
        // Who has read nothing yet misses nothing.
        let hasMissed =
            !token.isReverse && token.sequence > 0 && token.sequence < zone.zone.horizonSequence
        guard !hasMissed else {
            throw RequestError(
                .changeTokenExpired,
                reason: "The syncToken is older than the deletions that zone "
                    + "'\(zone.id.zoneName)' still knows; start without one"
            )
        }
        return token
    }
}
