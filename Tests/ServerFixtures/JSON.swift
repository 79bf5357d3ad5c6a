public import Foundation

/// A JSON value for tests: accessed by any path, without a model.
@dynamicMemberLookup
public enum JSON: Hashable, Sendable, Encodable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Parses a text; without `JSONDecoder`, where each form that is tried in vain throws an error.
    public init(_ data: Data) throws {
        self.init(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
    }

    private init(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        case let elements as [Any]: self = .array(elements.map { JSON($0) })
        case let members as [String: Any]: self = .object(members.mapValues { JSON($0) })
        case let number as NSNumber: self.init(number)
        default: self = .null
        }
    }

    private init(_ number: NSNumber) {
        if String(cString: number.objCType) == "c" {
            self = .bool(number.boolValue)
        } else if let whole = Int64(exactly: number) {
            self = .int(whole)
        } else {
            self = .double(number.doubleValue)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    public subscript(dynamicMember key: String) -> JSON { self[key] }

    public subscript(key: String) -> JSON {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    public subscript(index: Int) -> JSON {
        if case .array(let elements) = self, elements.indices.contains(index) {
            elements[index]
        } else {
            .null
        }
    }

    public var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }

    public var keys: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var integer: Int64? {
        if case .int(let integer) = self { integer } else { nil }
    }

    public var isTrue: Bool { self == .bool(true) }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
