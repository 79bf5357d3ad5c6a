#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CodingUserInfoKey {
    /// The key of a Boolean that makes an encoder write INT64 and DOUBLE values as JSON strings.
    public static let numbersAsStrings: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "CloudKitWire.numbersAsStrings") else {
            preconditionFailure("A user info key takes any string")
        }
        return key
    }()
}

// The JSON form of a value depends on its type tag, so decoding takes the type. Without a tag, the
// type follows from the JSON: string, number, object or array ("Types and Dictionaries").
extension WireValue {
    /// Creates a value by decoding a stated type; throws `DecodingError.typeMismatch` when the JSON
    /// differs.
    init(from decoder: any Decoder, as type: FieldType) throws {
        guard type.isList else {
            // A non-list type always has a scalar.
            self = try Self.scalar(
                from: try decoder.singleValueContainer(),
                as: type.scalar ?? .string
            )
            return
        }
        var elements = try decoder.unkeyedContainer()
        var values: [WireValue] = []
        values.reserveCapacity(elements.count ?? 0)
        var scalar = type.scalar
        while !elements.isAtEnd {
            let element = try elements.superDecoder()
            if let stated = type.scalar {
                values.append(
                    try Self.scalar(from: try element.singleValueContainer(), as: stated)
                )
                continue
            }
            let value = try WireValue(inferringFrom: element)
            guard let found = value.type.scalar, !value.type.isList else {
                throw mismatch(element.codingPath, "one value; lists do not nest")
            }
            values.append(value)
            scalar = try Self.scalar(scalar ?? found, and: found, at: element.codingPath)
            guard scalar != .double || values.allSatisfy(\.isExactAsDouble) else {
                throw mismatch(element.codingPath, "numbers that a list of DOUBLE holds exactly")
            }
        }
        self = .list(scalar == .double ? values.map(\.asDouble) : values, of: scalar)
    }

    /// Returns the type of a list with values of two types: without a stated type, JSON
    /// distinguishes whole numbers from others.
    private static func scalar(
        _ first: FieldType.Scalar,
        and second: FieldType.Scalar,
        at path: [any CodingKey]
    ) throws -> FieldType.Scalar {
        if first == second { return first }
        guard Set([first, second]) == [.int64, .double] else {
            throw mismatch(path, "a value of the type of those before it")
        }
        return .double
    }

    /// `true` when the value stays the same as a floating-point number, and for everything but
    /// integers.
    private var isExactAsDouble: Bool {
        guard case .int64(let integer) = self else { return true }
        return Int64(exactly: Double(integer)) == integer
    }

    /// The integer as a floating-point number; any other value unchanged.
    private var asDouble: WireValue {
        if case .int64(let integer) = self { .double(Double(integer)) } else { self }
    }

    /// Creates a value without a tag by decoding.
    init(inferringFrom decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each form is tried; a value of no known form throws below, with its place.
        if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let integer = try? container.decode(Int64.self) {
            self = .int64(integer)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = try WireValue(from: decoder, as: FieldType(listOf: nil))
        } else if let object = try? decoder.container(keyedBy: Name.self) {
            self = try Self.object(object, in: container)
        } else {
            throw mismatch(decoder.codingPath, "a string, number, object or array")
        }
    }

    /// Any member's name.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static func object(
        _ object: KeyedDecodingContainer<Name>,
        in container: any SingleValueDecodingContainer
    ) throws -> WireValue {
        let types = object.allKeys.compactMap { FieldType.Scalar(markedBy: $0.stringValue) }
        guard let type = [.reference, .location, .asset].first(where: types.contains) else {
            throw mismatch(container.codingPath, "a reference, location or asset")
        }
        return try scalar(from: container, as: type)
    }

    private static func scalar(
        from container: any SingleValueDecodingContainer,
        as scalar: FieldType.Scalar
    ) throws -> WireValue {
        switch scalar {
        case .string: .string(try container.decode(String.self))
        case .int64: .int64(try number(in: container) { Int64($0) })
        case .double: .double(try number(in: container) { Double($0) })
        case .timestamp: .timestamp(try number(in: container) { Int64($0) })
        case .bytes: .bytes(try bytes(in: container))
        case .reference: .reference(try container.decode(WireReference.self))
        case .location: .location(try container.decode(WireLocation.self))
        case .asset: .asset(try container.decode(WireAsset.self))
        }
    }

    /// Decodes a number, or its string form under `numbersAsStrings`.
    private static func number<Number: Decodable>(
        in container: any SingleValueDecodingContainer,
        parse: (String) -> Number?
    ) throws -> Number {
        // Numbers may come as text too; anything else throws below.
        if let number = try? container.decode(Number.self) { return number }
        guard let text = try? container.decode(String.self), let number = parse(text) else {
            throw mismatch(
                container.codingPath,
                Number.self == Int64.self ? "an integer" : "a number"
            )
        }
        return number
    }

    private static func bytes(in container: any SingleValueDecodingContainer) throws -> Data {
        guard let data = Data(base64Encoded: try container.decode(String.self)) else {
            throw mismatch(container.codingPath, "base64")
        }
        return data
    }
}

private func mismatch(_ path: [any CodingKey], _ expected: String) -> DecodingError {
    .typeMismatch(
        WireValue.self,
        .init(codingPath: path, debugDescription: "Expected \(expected)")
    )
}

extension WireValue: Encodable {
    /// Encodes the value alone; the field encodes its tag.
    public func encode(to encoder: any Encoder) throws {
        if case .list(let values, _) = self {
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
            return
        }
        var container = encoder.singleValueContainer()
        let asStrings = encoder.userInfo[.numbersAsStrings] as? Bool ?? false
        switch self {
        case .string(let string): try container.encode(string)
        case .int64(let integer) where asStrings: try container.encode(String(integer))
        case .double(let double) where asStrings: try container.encode(String(double))
        case .int64(let integer), .timestamp(let integer): try container.encode(integer)
        case .double(let double): try container.encode(double)
        case .bytes(let data): try container.encode(data.base64EncodedString())
        case .reference(let reference): try container.encode(reference)
        case .location(let location): try container.encode(location)
        case .asset(let asset): try container.encode(asset)
        case .list: break
        }
    }
}
