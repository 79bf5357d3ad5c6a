/// The body of `assets/upload`: asks where files may be uploaded to.
public struct UploadAssetsRequest: Hashable, Sendable, Codable {
    /// One file to come.
    public struct Token: Hashable, Sendable, Codable {
        /// The record that will hold it; nil asks the server to make a name.
        public var recordName: String?
        /// The record's type.
        public var recordType: String
        /// The field that will hold it.
        public var fieldName: String

        /// Makes a token request.
        public init(recordName: String?, recordType: String, fieldName: String) {
            self.recordName = recordName
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The zone of the records; nil for the default zone.
    public var zoneID: WireZoneID?
    /// The files, answered in this order.
    public var tokens: [Token]

    /// Makes a request.
    public init(zoneID: WireZoneID? = nil, tokens: [Token]) {
        self.zoneID = zoneID
        self.tokens = tokens
    }
}

/// The answer of `assets/upload`.
public struct UploadAssetsResponse: Hashable, Sendable, Codable {
    /// Where one file goes.
    public struct Token: Hashable, Sendable, Codable {
        /// The record that will hold the file.
        public var recordName: String
        /// The field that will hold the file.
        public var fieldName: String
        /// Where the bytes are posted to, within 15 minutes.
        public var url: String

        /// Makes a token.
        public init(recordName: String, fieldName: String, url: String) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.url = url
        }
    }

    /// The tokens in request order.
    public var tokens: [Token]

    /// Makes an answer.
    public init(tokens: [Token]) {
        self.tokens = tokens
    }
}

/// The answer of an upload URL: what the record's field is set to.
public struct AssetUploadReceipt: Hashable, Sendable, Codable {
    /// The asset with its receipt.
    public var singleFile: WireAsset

    /// Makes an answer.
    public init(singleFile: WireAsset) {
        self.singleFile = singleFile
    }
}
