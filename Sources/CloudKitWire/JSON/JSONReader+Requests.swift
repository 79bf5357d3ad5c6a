#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension ModifyRecordsRequest {
    /// Creates a request from JSON of a common form; nil for any other, which Foundation may decode.
    package init?(common data: Data) {
        var reader = JSONReader(data)
        // Any error means an uncommon form, which Codable decodes or reports as invalid.
        guard let request = try? reader.modifyRecordsRequest() else { return nil }
        self = request
    }
}

extension LookupRecordsRequest {
    /// Creates a request from JSON of a common form; nil for any other, which Foundation may decode.
    package init?(common data: Data) {
        var reader = JSONReader(data)
        // Any error means an uncommon form, which Codable decodes or reports as invalid.
        guard let request = try? reader.lookupRecordsRequest() else { return nil }
        self = request
    }
}

extension JSONReader {
    fileprivate mutating func modifyRecordsRequest() throws(GaveUp) -> ModifyRecordsRequest {
        var request = ModifyRecordsRequest(operations: [])
        let keys = try message(ModifyRecordsRequest.CodingKeys.self) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .operations:
                try reader.array { (reader) throws(GaveUp) in
                    request.operations.append(try reader.operation())
                }
            case .zoneID:
                request.zoneID = try reader.optional { r throws(GaveUp) in try r.zoneID() }
            case .atomic:
                request.atomic = try reader.optional { r throws(GaveUp) in try r.bool() }
            case .desiredKeys:
                request.desiredKeys = try reader.optional { r throws(GaveUp) in try r.strings() }
            case .numbersAsStrings:
                request.numbersAsStrings = try reader.optional { r throws(GaveUp) in try r.bool() }
            }
        }
        guard keys.contains(.operations) else { throw GaveUp() }
        try end()
        return request
    }

    private mutating func operation() throws(GaveUp) -> RecordOperation {
        var type: RecordOperation.OperationType?
        var record: WireRecord?
        var desiredKeys: [String]?
        try message(RecordOperation.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .operationType:
                type = RecordOperation.OperationType(rawValue: try reader.string())
            case .record: record = try reader.record()
            case .desiredKeys:
                desiredKeys = try reader.optional { r throws(GaveUp) in try r.strings() }
            }
        }
        guard let type, let record else { throw GaveUp() }
        return RecordOperation(type, record, desiredKeys: desiredKeys)
    }

    /// Reads a record; gives up on shares and, except in a response, on members that only responses
    /// have.
    mutating func record(ofResponse isResponse: Bool = false) throws(GaveUp) -> WireRecord {
        var record = WireRecord(recordName: nil)
        let others: OtherMembers = isResponse ? .ofItem : .ignored
        try message(WireRecord.CodingKeys.self, others: others) { (reader, key) throws(GaveUp) in
            switch key {
            case .recordName:
                record.recordName = try reader.optional { r throws(GaveUp) in try r.string() }
            case .recordType:
                record.recordType = try reader.optional { r throws(GaveUp) in try r.string() }
            case .recordChangeTag:
                record.recordChangeTag = try reader.optional { r throws(GaveUp) in try r.string() }
            case .fields:
                record.fields =
                    try reader.optional { r throws(GaveUp) in try r.fields() } ?? [:]
            case .zoneID:
                record.zoneID = try reader.optional { r throws(GaveUp) in try r.zoneID() }
            case .parent:
                record.parent = try reader.optional { r throws(GaveUp) in try r.reference() }
            case .removesParent:
                record.removesParent = try reader.optional { r throws(GaveUp) in try r.bool() }
            case .deleted:
                record.deleted = try reader.optional { r throws(GaveUp) in try r.bool() }
            case .created where isResponse:
                record.created = try reader.optional { r throws(GaveUp) in try r.stamp() }
            case .modified where isResponse:
                record.modified = try reader.optional { r throws(GaveUp) in try r.stamp() }
            case .share where isResponse:
                record.share = try reader.optional { r throws(GaveUp) in try r.reference() }
            case .shortGUID where isResponse:
                record.shortGUID = try reader.optional { r throws(GaveUp) in try r.string() }
            case .created, .modified, .share, .createShortGUID, .shortGUID:
                guard try reader.null() else { throw GaveUp() }
            case .pluginFields: try reader.skip()
            }
        }
        guard record.recordType != WireRecord.shareType else { throw GaveUp() }
        return record
    }

    fileprivate mutating func lookupRecordsRequest() throws(GaveUp) -> LookupRecordsRequest {
        var request = LookupRecordsRequest(records: [])
        let keys = try message(LookupRecordsRequest.CodingKeys.self) {
            (reader, key) throws(GaveUp) in
            switch key {
            case .records:
                try reader.array { (reader) throws(GaveUp) in
                    request.records.append(try reader.lookupItem())
                }
            case .zoneID:
                request.zoneID = try reader.optional { r throws(GaveUp) in try r.zoneID() }
            case .desiredKeys:
                request.desiredKeys = try reader.optional { r throws(GaveUp) in try r.strings() }
            case .numbersAsStrings:
                request.numbersAsStrings = try reader.optional { r throws(GaveUp) in try r.bool() }
            }
        }
        guard keys.contains(.records) else { throw GaveUp() }
        try end()
        return request
    }

    private mutating func lookupItem() throws(GaveUp) -> LookupRecordsRequest.Item {
        var name: String?
        var desiredKeys: [String]?
        try message(LookupRecordsRequest.Item.CodingKeys.self) { (reader, key) throws(GaveUp) in
            switch key {
            case .recordName: name = try reader.string()
            case .desiredKeys:
                desiredKeys = try reader.optional { r throws(GaveUp) in try r.strings() }
            }
        }
        guard let name else { throw GaveUp() }
        return LookupRecordsRequest.Item(recordName: name, desiredKeys: desiredKeys)
    }
}
