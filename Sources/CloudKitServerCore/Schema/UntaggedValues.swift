import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How values are read that come without a type.
enum UntaggedValues: Hashable, Sendable {
    /// By the schema, but for what iCloud was seen to refuse: a whole number for a TIMESTAMP, and a
    /// list after `IN` and `NOT_IN`.
    case asObserved
    /// All by the schema.
    case bySchema

    /// What the refusal of a value without a type ends with.
    static let remedy = "; state the type, or start the server with --types-by-schema"

    /// A value in the type of its field, as far as JSON may stand for it; others as they are.
    func read(_ value: WireValue, as type: FieldType) -> WireValue {
        switch value {
        case .list(let values, _) where type.isList:
            guard let scalar = type.scalar else { return value }
            // Nobody has seen what iCloud says to whole numbers in a list of dates.
            let read = values.map { Self.bySchema.read($0, as: FieldType(scalar)) }
            return read.allSatisfy { $0.type == FieldType(scalar) }
                ? .list(read, of: scalar) : value
        case .int64(let integer) where type == FieldType(.double): return .double(Double(integer))
        case .int64(let integer) where type == FieldType(.timestamp) && self == .bySchema:
            return .timestamp(integer)
        case .string(let text) where type == FieldType(.bytes):
            return Data(base64Encoded: text).map { .bytes($0) } ?? value
        default: return value
        }
    }

    /// Whether a value is refused only because its type is not stated.
    static func wouldRead(_ value: WireValue, as type: FieldType) -> Bool {
        bySchema.read(value, as: type).type == type
    }
}
