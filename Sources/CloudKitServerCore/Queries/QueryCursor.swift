import Crypto
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The position in a query's results after which the next page starts, with everything that is
/// needed to continue: any process on the same storage can return the next page.
///
/// It is a position in the order, not a row, so it stays exact while records are added and deleted.
struct QueryCursor: Hashable {
    /// The index of the condition whose index is walked; -1 for the index of the order, -2 for the
    /// one of all records.
    var driver: Int
    /// The sort keys of the last result.
    var keys: [Data]
    /// The record of the last result.
    var record: Int64

    /// The query that a cursor belongs to, and the generation of its zones.
    struct Identity: Hashable {
        /// A hash that identifies the query and its zones.
        let fingerprint: [UInt8]
        /// A hash that differs after a reset or a restore of the zones.
        let life: [UInt8]
    }

    /// Returns whether the position is after all results with its first key.
    func isBehindKey(of query: CompiledQuery) -> Bool { keys.count < query.sorts.count }

    func sealed(by seal: TokenSeal, _ identity: Identity) -> String {
        var writer = TokenWriter()
        writer.append(identity.fingerprint)
        writer.append(identity.life)
        writer.append(Int64(driver))
        writer.append(Int64(keys.count))
        for key in keys { writer.append(key) }
        writer.append(record)
        // The position may be that of a record that the caller may not read.
        return seal.conceal(writer.bytes, for: .queryPage)
    }

    /// Opens a marker.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` when it is forged, belongs to another query, or
    ///   precedes a restore.
    init(_ marker: String, with seal: TokenSeal, _ identity: Identity) throws(RequestError) {
        guard let contents = seal.reveal(marker, for: .queryPage) else {
            throw RequestError(
                .badRequest,
                reason: "Unknown sync continuation type: the continuationMarker is not from here"
            )
        }
        var reader = TokenReader(contents)
        guard reader.data() == identity.fingerprint else {
            throw RequestError(
                .badRequest,
                reason: "The continuationMarker belongs to another query; send the same query again"
            )
        }
        guard reader.data() == identity.life else {
            throw RequestError(
                .badRequest,
                reason: "The continuationMarker belongs to an earlier generation of the zone; "
                    + "start the query again without one"
            )
        }
        let driver = reader.number() ?? 0
        let count = reader.number() ?? -1
        var keys: [Data] = []
        for _ in 0..<max(0, min(count, 64)) {
            if let key = reader.data() { keys.append(Data(key)) }
        }
        guard keys.count == count, let record = reader.number(), reader.isAtEnd else {
            throw RequestError(.badRequest, reason: "The continuationMarker cannot be read")
        }
        self.init(driver: Int(driver), keys: keys, record: record)
    }

    init(driver: Int, keys: [Data], record: Int64) {
        self.driver = driver
        self.keys = keys
        self.record = record
    }
}

extension QueryCursor.Identity {
    init(of query: WireQuery, in zones: [ZoneView]) {
        var lives = TokenWriter()
        for zone in zones { lives.append(zone.zone.incarnation &+ zone.database.incarnation) }
        // Older versions wrote positions in another format.
        lives.append(Self.form)
        life = Array(SHA256.hash(data: lives.bytes).prefix(8))
        fingerprint = Self.fingerprint(query, zones)
    }

    private static let form: Int64 = 2

    private static func fingerprint(_ query: WireQuery, _ zones: [ZoneView]) -> [UInt8] {
        var writer = JSONWriter()
        writer.openArray()
        writer.string(query.recordType)
        for filter in query.filterBy {
            writer.string(filter.comparator.rawValue)
            writer.string(filter.systemFieldName ?? filter.fieldName ?? "")
            if let value = filter.fieldValue { writer.field(value) }
            writer.double(filter.distance ?? -1)
        }
        for sort in query.sortBy {
            writer.string(sort.systemFieldName ?? sort.fieldName ?? "")
            writer.string(sort.ascending == false ? "down" : "up")
            if let centre = sort.relativeLocation { writer.field(centre) }
        }
        for zone in zones { writer.integer(zone.zone.id.rawValue) }
        writer.closeArray()
        return Array(SHA256.hash(data: writer.data).prefix(16))
    }
}
