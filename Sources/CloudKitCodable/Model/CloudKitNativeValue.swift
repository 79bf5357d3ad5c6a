public import CloudKit

/// A type that records hold as it is and that is not `Codable`: a location, a reference, an asset,
/// an optional or a list of them.
///
/// Wrap such a property in ``CloudKitValue``.
public protocol CloudKitNativeValue {
    /// The value as a record holds it; nil for none.
    var recordValue: (any CKRecordValue)? { get }

    /// Reads the value that a record holds; nil when it is of another type.
    static func value(from recordValue: (any CKRecordValue)?) -> Self?

    /// Writes the value for coders that know nothing of records.
    func encodePortably(to encoder: any Encoder) throws

    /// Reads what `encodePortably(to:)` wrote.
    static func decodePortably(from decoder: any Decoder) throws -> Self
}

extension Optional: CloudKitNativeValue where Wrapped: CloudKitNativeValue {
    /// The wrapped value as a record holds it.
    public var recordValue: (any CKRecordValue)? { self?.recordValue }

    /// Nothing for nothing.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        guard let recordValue else { return .some(nil) }
        return Wrapped.value(from: recordValue).map { .some($0) }
    }

    /// Writes the wrapped value, or null.
    public func encodePortably(to encoder: any Encoder) throws {
        if let value = self {
            try value.encodePortably(to: encoder)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// Reads the wrapped value, or null.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        if try decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped.decodePortably(from: decoder)
    }
}

extension Array: CloudKitNativeValue where Element: CloudKitNativeValue {
    /// A list.
    public var recordValue: (any CKRecordValue)? {
        NSArray(array: compactMap(\.recordValue))
    }

    /// A list, if every element fits.
    public static func value(from recordValue: (any CKRecordValue)?) -> [Element]? {
        guard let objects = recordValue as? [Any] else { return nil }
        let values = objects.compactMap { object in
            Element.value(from: object as? any CKRecordValue)
        }
        return values.count == objects.count ? values : nil
    }

    /// Writes the elements.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try element.encodePortably(to: container.superEncoder()) }
    }

    /// Reads the elements.
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
    /// The value if its class is the one asked for: a subclass of Apple's cannot be made here.
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
