/// A field of a record on the wire: `{"value": …, "type": "…", "isEncrypted": true}`.
public struct WireField: Hashable, Sendable {
    /// The value; nil clears the field.
    public var value: WireValue?

    /// The tag that came with the value; nil if there was none and the type was inferred.
    public var statedType: FieldType?

    /// A Boolean value that indicates whether the field is encrypted.
    public var isEncrypted: Bool

    /// The dates in the value, in their order, as seconds since 2001, if milliseconds lose
    /// precision; only between this package's client and server.
    package var exactDates: [Double]?

    /// Creates a field with a value, or one that clears it.
    public init(_ value: WireValue?, isEncrypted: Bool = false) {
        self.value = value
        statedType = value?.type
        self.isEncrypted = isEncrypted
    }
}

extension WireField: Codable {
    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case value, type, isEncrypted, exactDates
    }

    /// Creates a field by decoding, and infers the type if there is no tag.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isEncrypted = try container.decodeIfPresent(Bool.self, forKey: .isEncrypted) ?? false
        exactDates = try container.decodeIfPresent([Double].self, forKey: .exactDates)
        if let tag = try container.decodeIfPresent(String.self, forKey: .type) {
            guard let type = FieldType(tag: tag) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .type,
                    in: container,
                    debugDescription: "Unknown field type \(tag)"
                )
            }
            statedType = type
        } else {
            statedType = nil
        }
        guard container.contains(.value), try !container.decodeNil(forKey: .value) else {
            value = nil
            return
        }
        let decoder = try container.superDecoder(forKey: .value)
        value =
            if let statedType {
                try WireValue(from: decoder, as: statedType)
            } else {
                try WireValue(inferringFrom: decoder)
            }
    }

    /// Encodes the value with its tag; a cleared field is `{"value": null}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encodeIfPresent((value?.type ?? statedType)?.tag, forKey: .type)
        if isEncrypted { try container.encode(true, forKey: .isEncrypted) }
        try container.encodeIfPresent(exactDates, forKey: .exactDates)
    }
}
