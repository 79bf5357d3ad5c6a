/// A message, or a part of one, that `JSONReader` reads.
///
/// What it reads is what the type's `Decodable` form reads from the same bytes.
protocol JSONReadable {
    /// Reads the value that comes next.
    init(json: inout JSONReader) throws(JSONReader.Unusual)
}

extension RecordsResponse: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var records: [ItemResult<WireRecord>]?
        var continuationMarker: String?
        var syncToken: String?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "records" {
                try json.set(&records) { json throws(JSONReader.Unusual) in try json.records() }
            } else if key == "continuationMarker" {
                try json.set(&continuationMarker) { json throws(JSONReader.Unusual) in
                    try json.string()
                }
            } else if key == "syncToken" {
                try json.set(&syncToken) { json throws(JSONReader.Unusual) in try json.string() }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            records: try json.required(records),
            continuationMarker: continuationMarker,
            syncToken: syncToken
        )
    }
}

extension ZoneChangesResponse: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var zones: [ItemResult<Zone>]?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "zones" {
                try json.set(&zones) { json throws(JSONReader.Unusual) in
                    try json.array { json throws(JSONReader.Unusual) in
                        .success(try Zone(json: &json))
                    }
                }
            } else {
                _ = try json.skip()
            }
        }
        self.init(zones: try json.required(zones))
    }
}

extension ZoneChangesResponse.Zone: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var zoneID: WireZoneID?
        var records: [ItemResult<WireRecord>]?
        var syncToken: String?
        var moreComing: Bool?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "zoneID" {
                try json.set(&zoneID, WireZoneID.init(json:))
            } else if key == "records" {
                try json.set(&records) { json throws(JSONReader.Unusual) in try json.records() }
            } else if key == "syncToken" {
                try json.set(&syncToken) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "moreComing" {
                try json.set(&moreComing) { json throws(JSONReader.Unusual) in try json.bool() }
            } else if key == "serverErrorCode" {
                throw JSONReader.Unusual()
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            zoneID: try json.required(zoneID),
            records: try json.required(records),
            syncToken: try json.required(syncToken),
            moreComing: moreComing ?? false
        )
        self.moreComing = moreComing
    }
}

extension ModifyRecordsRequest: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var operations: [RecordOperation]?
        var zoneID: WireZoneID?
        var atomic: Bool?
        var desiredKeys: [String]?
        var numbersAsStrings: Bool?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "operations" {
                try json.set(&operations) { json throws(JSONReader.Unusual) in
                    try json.array(RecordOperation.init(json:))
                }
            } else if key == "zoneID" {
                try json.set(&zoneID, WireZoneID.init(json:))
            } else if key == "atomic" {
                try json.set(&atomic) { json throws(JSONReader.Unusual) in try json.bool() }
            } else if key == "desiredKeys" {
                try json.set(&desiredKeys) { json throws(JSONReader.Unusual) in
                    try json.strings()
                }
            } else if key == "numbersAsStrings" {
                try json.set(&numbersAsStrings) { json throws(JSONReader.Unusual) in
                    try json.bool()
                }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            operations: try json.required(operations),
            zoneID: zoneID,
            atomic: atomic,
            desiredKeys: desiredKeys,
            numbersAsStrings: numbersAsStrings
        )
    }
}

extension RecordOperation: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var type: OperationType?
        var record: WireRecord?
        var desiredKeys: [String]?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "operationType" {
                try json.set(&type) { json throws(JSONReader.Unusual) in
                    try json.required(OperationType(rawValue: try json.string()))
                }
            } else if key == "record" {
                try json.set(&record, WireRecord.init(json:))
            } else if key == "desiredKeys" {
                try json.set(&desiredKeys) { json throws(JSONReader.Unusual) in
                    try json.strings()
                }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            try json.required(type),
            try json.required(record),
            desiredKeys: desiredKeys
        )
    }
}

extension [String: WireField]: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var fields: [String: WireField] = [:]
        // Most records have some ten fields: one allocation instead of four.
        fields.reserveCapacity(12)
        try json.object { key, json throws(JSONReader.Unusual) in
            let name = try json.text(key)
            let field = try WireField(json: &json)
            guard fields.updateValue(field, forKey: name) == nil else {
                throw JSONReader.Unusual()
            }
        }
        self = fields
    }
}

extension JSONReader {
    /// The records of an answer; one that failed is left to `JSONDecoder`.
    fileprivate mutating func records() throws(Unusual) -> [ItemResult<WireRecord>] {
        try array { json throws(Unusual) in .success(try WireRecord(json: &json)) }
    }

    mutating func strings() throws(Unusual) -> [String] {
        try array { json throws(Unusual) in try json.string() }
    }
}
