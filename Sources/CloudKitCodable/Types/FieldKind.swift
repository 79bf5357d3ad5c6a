import CloudKit
import Foundation
import Synchronization

/// What a type that no container method names is to the coders, found out once per type: asking
/// for a conformance costs more than storing the value.
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

    /// What a type is.
    static func of(_ type: Any.Type) -> FieldKind { TypeTraits.of(type).kind }

    fileprivate static func classify(_ type: Any.Type) -> FieldKind {
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

/// What the coders ask of a type, found out once.
struct TypeTraits: Sendable {
    /// What the type is as a field.
    let kind: FieldKind

    /// The type's name, which takes long to make.
    let name: String

    /// Whether its values say themselves which record they are.
    let isRepresentable: Bool

    private static let known = Mutex<[ObjectIdentifier: TypeTraits]>([:])

    /// The traits of a type.
    static func of(_ type: Any.Type) -> TypeTraits {
        let identifier = ObjectIdentifier(type)
        if let traits = known.withLock({ $0[identifier] }) { return traits }
        let traits = TypeTraits(
            kind: FieldKind.classify(type),
            name: String(describing: type),
            isRepresentable: type is any CloudKitRecordRepresentable.Type
        )
        known.withLock { $0[identifier] = traits }
        return traits
    }
}

/// A list of models, whatever their type: a list of references in a record.
protocol ModelList {
    static var modelType: any CloudKitModel.Type { get }
    var models: [any CloudKitModel] { get }
    static func list(of models: [any CloudKitModel]) -> Self?
}

extension Array: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }
    var models: [any CloudKitModel] { self }

    static func list(of models: [any CloudKitModel]) -> [Element]? {
        let elements = models.compactMap { $0 as? Element }
        return elements.count == models.count ? elements : nil
    }
}

extension Set: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }

    /// In the order of their names: a set has none of its own.
    var models: [any CloudKitModel] { sorted { $0.recordName < $1.recordName } }

    static func list(of models: [any CloudKitModel]) -> Set<Element>? {
        guard let elements = [Element].list(of: models) else { return nil }
        return Set(elements)
    }
}

/// An array of values that can be encoded, whatever their type.
protocol EncodableList {
    var elementType: Any.Type { get }
    var elements: [any Encodable] { get }
}

extension Array: EncodableList where Element: Encodable {
    var elementType: Any.Type { Element.self }
    var elements: [any Encodable] { self }
}

/// An array of values that can be decoded, whatever their type.
protocol DecodableList {
    static var elementType: any Decodable.Type { get }
    static func list(of values: [Any]) -> Self?
}

extension Array: DecodableList where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }

    static func list(of values: [Any]) -> [Element]? {
        let elements = values.compactMap { $0 as? Element }
        return elements.count == values.count ? elements : nil
    }
}

/// A set of values that can be encoded, whatever their type.
protocol EncodableSet {
    var elementType: Any.Type { get }
    var elements: [any Encodable] { get }
}

extension Set: EncodableSet where Element: Encodable {
    var elementType: Any.Type { Element.self }
    var elements: [any Encodable] { Array(self) }
}
