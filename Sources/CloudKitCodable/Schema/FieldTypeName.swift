import CloudKit
import Foundation

/// CloudKit's type of the field in which values of a Swift type are stored, in the native forms.
enum FieldTypeName {
    /// Returns the type's name in the schema language; nil when it depends on the value.
    static func of(_ type: Any.Type) -> String? {
        if let name = scalar(type) { return name }
        if let optional = type as? any OptionalValue.Type { return of(optional.wrappedType) }
        if type == PropertyListing.Structure.self { return "BYTES" }
        switch FieldKind.of(type) {
        case .model, .reference: return "REFERENCE"
        case .modelList: return "LIST<REFERENCE>"
        case .stringEnum: return "STRING"
        case .integerEnum: return "INT64"
        case .assetValue: return "ASSET"
        case .nativeField: return (type as? any NativeField.Type).flatMap { native($0.valueType) }
        case .list: return list((type as? any AnyArray.Type)?.elementType)
        case .set: return list((type as? any DecodableSet.Type)?.elementType)
        case .optional, .other: return other(type)
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

    /// Returns the type of a list, which depends only on the type of its elements.
    private static func list(_ element: Any.Type?) -> String? {
        guard let element, let kind = ListElement(element, .native) else { return "BYTES" }
        guard kind == .native else { return "LIST<\(kind.rawValue)>" }
        let name = (element as? any NativeField.Type).flatMap { native($0.valueType) }
        return name.map { "LIST<\($0)>" }
    }

    /// Returns the type of a wrapped native value.
    private static func native(_ type: Any.Type) -> String? {
        if let optional = type as? any OptionalValue.Type { return native(optional.wrappedType) }
        if let list = type as? any AnyArray.Type {
            return native(list.elementType).map { "LIST<\($0)>" }
        }
        if type is CLLocation.Type { return "LOCATION" }
        if type is CKRecord.Reference.Type { return "REFERENCE" }
        return type is CKAsset.Type ? "ASSET" : nil
    }

    /// Returns the type of a raw value.
    private static func other(_ type: Any.Type) -> String? {
        if let rawValue = type as? any RawRepresentable.Type {
            return scalar(rawValue.rawValueType)
        }
        return type is any EncodableDictionary.Type ? "BYTES" : nil
    }

    /// Returns the type name of a stored value; nil for an empty list, whose type is unknown.
    static func of(_ object: any CKRecordValue) -> String? {
        if let list = object as? [Any] {
            guard let first = list.first as? any CKRecordValue else { return nil }
            return of(first).map { "LIST<\($0)>" }
        }
        return CodingProblem.typeName(of: object)
    }
}
