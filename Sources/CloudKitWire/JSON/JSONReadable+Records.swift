extension WireRecord: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var recordName: String?
        var recordType: String?
        var recordChangeTag: String?
        var fields: [String: WireField]?
        var created: Stamp?
        var modified: Stamp?
        var deleted: Bool?
        var zoneID: WireZoneID?
        var parent: WireReference?
        var share: WireReference?
        var createShortGUID: Bool?
        var shortGUID: String?
        var isFailure = false
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "recordName" {
                try json.set(&recordName) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "recordType" {
                try json.set(&recordType) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "recordChangeTag" {
                try json.set(&recordChangeTag) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "fields" {
                try json.set(&fields, [String: WireField].init(json:))
            } else if key == "created" {
                try json.set(&created, Stamp.init(json:))
            } else if key == "modified" {
                try json.set(&modified, Stamp.init(json:))
            } else if key == "deleted" {
                try json.set(&deleted) { json throws(JSONReader.Unusual) in try json.bool() }
            } else if key == "zoneID" {
                try json.set(&zoneID, WireZoneID.init(json:))
            } else if key == "parent" {
                try json.set(&parent, WireReference.init(json:))
            } else if key == "share" {
                try json.set(&share, WireReference.init(json:))
            } else if key == "createShortGUID" {
                try json.set(&createShortGUID) { json throws(JSONReader.Unusual) in try json.bool() }
            } else if key == "shortGUID" {
                try json.set(&shortGUID) { json throws(JSONReader.Unusual) in try json.string() }
            } else {
                if key == "serverErrorCode" { isFailure = true }
                _ = try json.skip()
            }
        }
        // A share has more parts.
        guard !isFailure, recordType != Self.shareType else { throw JSONReader.Unusual() }
        self.init(
            recordName: recordName,
            recordType: recordType,
            recordChangeTag: recordChangeTag,
            fields: fields ?? [:],
            zoneID: zoneID
        )
        self.created = created
        self.modified = modified
        self.deleted = deleted
        self.parent = parent
        self.share = share
        self.createShortGUID = createShortGUID
        self.shortGUID = shortGUID
    }
}

extension WireRecord.Stamp: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var timestamp: Int64?
        var userRecordName: String?
        var deviceID: String?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "timestamp" {
                try json.set(&timestamp) { json throws(JSONReader.Unusual) in try json.integer() }
            } else if key == "userRecordName" {
                try json.set(&userRecordName) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "deviceID" {
                try json.set(&deviceID) { json throws(JSONReader.Unusual) in try json.string() }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            timestamp: try json.required(timestamp),
            userRecordName: userRecordName,
            deviceID: deviceID
        )
    }
}

extension WireZoneID: JSONReadable {
    init(json: inout JSONReader) throws(JSONReader.Unusual) {
        var zoneName: String?
        var ownerRecordName: String?
        var zoneType: String?
        try json.object { key, json throws(JSONReader.Unusual) in
            if key == "zoneName" {
                try json.set(&zoneName) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "ownerRecordName" {
                try json.set(&ownerRecordName) { json throws(JSONReader.Unusual) in try json.string() }
            } else if key == "zoneType" {
                try json.set(&zoneType) { json throws(JSONReader.Unusual) in try json.string() }
            } else {
                _ = try json.skip()
            }
        }
        self.init(
            zoneName: zoneName ?? Self.defaultZoneName,
            ownerRecordName: ownerRecordName,
            zoneType: zoneType
        )
    }
}
