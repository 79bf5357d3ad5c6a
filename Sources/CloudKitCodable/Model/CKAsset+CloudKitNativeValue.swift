public import CloudKit

extension CKAsset: CloudKitNativeValue {
    /// The asset.
    public var recordValue: (any CKRecordValue)? { self }

    /// Returns the value if it is an asset.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        recordValue as? Self
    }

    /// Throws an error: only a record can carry a file.
    ///
    /// - Throws: `EncodingError.invalidValue`, always.
    public func encodePortably(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            .init(
                codingPath: encoder.codingPath,
                debugDescription: """
                    a file can only be a field of a record: make the property one of the model \
                    itself, or the value around it a model
                    """
            )
        )
    }

    /// Throws an error: only a record can carry a file.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, always.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        try checked(CKAsset?.none, decoder)
    }
}
