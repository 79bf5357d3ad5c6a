/// The body of `assets/upload`, which requests upload addresses for files.
public struct UploadAssetsRequest: Hashable, Sendable, Codable {
    /// A file to upload.
    public struct Token: Hashable, Sendable, Codable {
        /// The name of the record for the file; nil lets the server create one.
        public var recordName: String?
        /// The record's type.
        public var recordType: String
        /// The field for the file.
        public var fieldName: String

        /// Creates a token request.
        public init(recordName: String?, recordType: String, fieldName: String) {
            self.recordName = recordName
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The zone of the records; nil for the default zone.
    public var zoneID: WireZoneID?
    /// The files; the response has the same order.
    public var tokens: [Token]

    /// Creates a request.
    public init(zoneID: WireZoneID? = nil, tokens: [Token]) {
        self.zoneID = zoneID
        self.tokens = tokens
    }
}

/// The response of `assets/upload`.
public struct UploadAssetsResponse: Hashable, Sendable, Codable {
    /// The upload address of one file.
    public struct Token: Hashable, Sendable, Codable {
        /// The record for the file.
        public var recordName: String
        /// The field for the file.
        public var fieldName: String
        /// The address to post the bytes to, within 15 minutes.
        public var url: String

        /// Creates a token.
        public init(recordName: String, fieldName: String, url: String) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.url = url
        }
    }

    /// The tokens in request order.
    public var tokens: [Token]

    /// Creates a response.
    public init(tokens: [Token]) {
        self.tokens = tokens
    }
}

/// The response of an upload URL: the value for the record's field.
public struct AssetUploadReceipt: Hashable, Sendable, Codable {
    /// The asset with its receipt.
    public var singleFile: WireAsset

    /// Creates a response.
    public init(singleFile: WireAsset) {
        self.singleFile = singleFile
    }
}
