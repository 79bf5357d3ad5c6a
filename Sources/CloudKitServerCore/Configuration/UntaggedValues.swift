import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The interpretation of values without a type.
enum UntaggedValues: Hashable, Sendable {
    /// Values are read by the schema, except those that iCloud was observed to refuse: a whole
    /// number for a TIMESTAMP, and a list after `IN` and `NOT_IN`.
    case asObserved
    /// All values are read by the schema.
    case bySchema

    /// The end of the message that refuses a value without a type.
    static let remedy = "; state the type, or start the server with --types-by-schema"

    /// Returns a value in the type of its field, as far as JSON can represent it; other values are
    /// unchanged.
    func read(_ value: WireValue, as type: FieldType) -> WireValue {
        switch value {
        case .list(let values, _) where type.isList:
            guard let scalar = type.scalar else { return value }
            // The response of iCloud to whole numbers in a list of dates is unknown.
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

    /// Returns whether a value is refused only because its type is missing.
    static func wouldRead(_ value: WireValue, as type: FieldType) -> Bool {
        bySchema.read(value, as: type).type == type
    }
}
