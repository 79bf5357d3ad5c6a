/// The coders' classification of a type that has no container method of its own, computed once per
/// type: checking a conformance costs more than storing the value.
enum FieldKind: Sendable {
    case model
    case modelList
    case nativeField
    case reference
    case stringEnum
    case integerEnum
    case assetValue
    case optional
    case list
    case set
    case other

    /// Returns the kind of a type.
    static func of(_ type: Any.Type) -> FieldKind { TypeTraits.of(type).kind }

    static func classify(_ type: Any.Type) -> FieldKind {
        if type is any CloudKitModel.Type { return .model }
        if type is any ModelList.Type { return .modelList }
        if type is any NativeField.Type { return .nativeField }
        if type is any ReferenceField.Type { return .reference }
        if type is any CloudKitStringEnum.Type { return .stringEnum }
        if type is any CloudKitIntEnum.Type { return .integerEnum }
        if type is any CloudKitAssetValue.Type { return .assetValue }
        if type is any OptionalValue.Type { return .optional }
        if type is any EncodableList.Type { return .list }
        if type is any EncodableSet.Type { return .set }
        return .other
    }
}
