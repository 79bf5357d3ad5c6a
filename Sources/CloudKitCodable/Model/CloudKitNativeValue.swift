public import CloudKit

/// A type that records hold directly and that is not `Codable`: a location, a reference, an asset, or
/// an optional or a list of these.
///
/// Wrap such a property in ``CloudKitValue``.
public protocol CloudKitNativeValue {
    /// The value in the form that a record holds; nil for none.
    var recordValue: (any CKRecordValue)? { get }

    /// Returns the value that a record holds; nil when it has another type.
    static func value(from recordValue: (any CKRecordValue)?) -> Self?

    /// Encodes the value for coders that are not of this module.
    func encodePortably(to encoder: any Encoder) throws

    /// Decodes what `encodePortably(to:)` encoded.
    static func decodePortably(from decoder: any Decoder) throws -> Self
}

extension Optional: CloudKitNativeValue where Wrapped: CloudKitNativeValue {
    /// The wrapped value in the form that a record holds.
    public var recordValue: (any CKRecordValue)? { self?.recordValue }

    /// Returns the wrapped value; a missing value is nil.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        guard let recordValue else { return .some(nil) }
        return Wrapped.value(from: recordValue).map { .some($0) }
    }

    /// Encodes the wrapped value, or null.
    public func encodePortably(to encoder: any Encoder) throws {
        if let value = self {
            try value.encodePortably(to: encoder)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// Decodes the wrapped value, or null.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        if try decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped.decodePortably(from: decoder)
    }
}

extension Array: CloudKitNativeValue where Element: CloudKitNativeValue {
    /// The elements as a list.
    public var recordValue: (any CKRecordValue)? {
        NSArray(array: compactMap(\.recordValue))
    }

    /// Returns the list, if every element has the right type.
    public static func value(from recordValue: (any CKRecordValue)?) -> [Element]? {
        guard let objects = recordValue as? [Any] else { return nil }
        let values = objects.compactMap { object in
            Element.value(from: object as? any CKRecordValue)
        }
        return values.count == objects.count ? values : nil
    }

    /// Encodes the elements.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try element.encodePortably(to: container.superEncoder()) }
    }

    /// Decodes the elements.
    public static func decodePortably(from decoder: any Decoder) throws -> [Element] {
        var container = try decoder.unkeyedContainer()
        var elements: [Element] = []
        while !container.isAtEnd {
            elements.append(try Element.decodePortably(from: container.superDecoder()))
        }
        return elements
    }
}

extension CloudKitNativeValue {
    /// Returns the value if its class is the requested one: a subclass of Apple's cannot be created
    /// here.
    static func checked(_ value: (some Any)?, _ decoder: any Decoder) throws -> Self {
        guard let value = value as? Self else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected a \(Self.self), which this coder cannot read"
                )
            )
        }
        return value
    }
}
