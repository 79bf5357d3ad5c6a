#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordsResponse {
    /// Creates a response from JSON of a common form; nil for any other, which Foundation may decode.
    init?(common data: Data) {
        var reader = JSONReader(data)
        // Any error means an uncommon form, which Codable decodes or reports as invalid.
        guard let response = try? reader.recordsResponse() else { return nil }
        self = response
    }
}

extension ZoneChangesResponse {
    /// Creates a response from JSON of a common form; nil for any other, which Foundation may decode.
    init?(common data: Data) {
        var reader = JSONReader(data)
        // Any error means an uncommon form, which Codable decodes or reports as invalid.
        guard let response = try? reader.zoneChangesResponse() else { return nil }
        self = response
    }
}

extension JSONReader {
    fileprivate mutating func recordsResponse() throws(GaveUp) -> RecordsResponse {
        var records: [ItemResult<WireRecord>]?
        var response = RecordsResponse(records: [])
        try message(RecordsResponse.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .records: records = try reader.records()
            case .continuationMarker:
                response.continuationMarker =
                    try reader.optional { r throws(GaveUp) in try r.string() }
            case .syncToken:
                response.syncToken = try reader.optional { r throws(GaveUp) in try r.string() }
            }
        }
        guard let records else { throw GaveUp() }
        try end()
        response.records = records
        return response
    }

    fileprivate mutating func zoneChangesResponse() throws(GaveUp) -> ZoneChangesResponse {
        var zones: [ItemResult<ZoneChangesResponse.Zone>] = []
        let keys = try message(ZoneChangesResponse.CodingKeys.self) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .zones:
                try reader.array { (reader) throws(GaveUp) in
                    zones.append(.success(try reader.zoneChanges()))
                }
            }
        }
        guard keys.contains(.zones) else { throw GaveUp() }
        try end()
        return ZoneChangesResponse(zones: zones)
    }

    private mutating func zoneChanges() throws(GaveUp) -> ZoneChangesResponse.Zone {
        var zone: WireZoneID?
        var records: [ItemResult<WireRecord>]?
        var token: String?
        var moreComing: Bool?
        try message(ZoneChangesResponse.Zone.CodingKeys.self, others: .ofItem) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .zoneID: zone = try reader.zoneID()
            case .records: records = try reader.records()
            case .syncToken: token = try reader.string()
            case .moreComing:
                moreComing = try reader.optional { r throws(GaveUp) in try r.bool() }
            }
        }
        guard let zone, let records, let token else { throw GaveUp() }
        var changes = ZoneChangesResponse.Zone(
            zoneID: zone,
            records: records,
            syncToken: token,
            moreComing: moreComing ?? false
        )
        changes.moreComing = moreComing
        return changes
    }

    private mutating func records() throws(GaveUp) -> [ItemResult<WireRecord>] {
        var records: [ItemResult<WireRecord>] = []
        try array { (reader) throws(GaveUp) in
            records.append(.success(try reader.record(ofResponse: true)))
        }
        return records
    }

    /// Reads the user and date of a change.
    mutating func stamp() throws(GaveUp) -> WireRecord.Stamp {
        var timestamp: Int64?
        var user: String?
        var device: String?
        try message(WireRecord.Stamp.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .timestamp: timestamp = try reader.integer()
            case .userRecordName:
                user = try reader.optional { r throws(GaveUp) in try r.string() }
            case .deviceID: device = try reader.optional { r throws(GaveUp) in try r.string() }
            }
        }
        guard let timestamp else { throw GaveUp() }
        return WireRecord.Stamp(timestamp: timestamp, userRecordName: user, deviceID: device)
    }
}
