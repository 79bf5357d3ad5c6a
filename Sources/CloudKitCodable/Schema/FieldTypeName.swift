import CloudKit
import Foundation

/// CloudKit's type of the field that values of a Swift type become, in the native forms.
enum FieldTypeName {
    /// The type's name in the schema language.
    static func of(_ type: Any.Type) -> String {
        if let name = scalar(type) { return name }
        switch FieldKind.of(type) {
        case .model, .reference: return "REFERENCE"
        case .modelList: return "LIST<REFERENCE>"
        case .stringEnum: return "STRING"
        case .integerEnum: return "INT64"
        case .assetValue: return "ASSET"
        case .nativeField: return native(type)
        case .optional:
            return (type as? any OptionalValue.Type).map { of($0.wrappedType) } ?? "BYTES"
        case .list: return list((type as? any DecodableList.Type)?.elementType)
        case .set: return list((type as? any DecodableSet.Type)?.elementType)
        case .other: return other(type)
        }
    }

    private static func scalar(_ type: Any.Type) -> String? {
        switch type {
        case is String.Type, is URL.Type, is UUID.Type, is Decimal.Type: "STRING"
        case is Double.Type, is Float.Type: "DOUBLE"
        case is Bool.Type, is any FixedWidthInteger.Type: "INT64"
        case is Date.Type: "TIMESTAMP"
        case is Data.Type: "BYTES"
        default: nil
        }
    }

    private static func list(_ element: Any.Type?) -> String {
        guard let element, let kind = ListElement(element, .native) else { return "BYTES" }
        return kind == .native ? "LIST<\(native(element))>" : "LIST<\(kind.rawValue)>"
    }

    /// The type of a wrapped native value, found by what it takes.
    private static func native(_ type: Any.Type) -> String {
        guard let type = type as? any NativeField.Type else { return "BYTES" }
        for candidate in Placeholder.nativeCandidates where type.field(from: candidate) != nil {
            return CodingProblem.typeName(of: candidate)
        }
        for candidate in Placeholder.nativeCandidates
        where type.field(from: NSArray(array: [candidate])) != nil {
            return "LIST<\(CodingProblem.typeName(of: candidate))>"
        }
        return "BYTES"
    }

    /// A raw value is what it is raw, a single value what it asks for; a structure is JSON.
    private static func other(_ type: Any.Type) -> String {
        if let rawValue = type as? any RawRepresentable.Type,
            let name = scalar(rawValue.rawValueType)
        {
            return name
        }
        guard let type = type as? any Decodable.Type, let single = ModelShape.of(type).singleValue
        else { return "BYTES" }
        return of(single)
    }
}
