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

/// A set of values that can be decoded, whatever their type.
protocol DecodableSet {
    static var elementType: any Decodable.Type { get }
}

extension Set: DecodableSet where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
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

/// A dictionary, whatever its types.
protocol DecodableDictionary {
    static var keyType: Any.Type { get }
    static var valueType: Any.Type { get }
}

extension Dictionary: DecodableDictionary {
    static var keyType: Any.Type { Key.self }
    static var valueType: Any.Type { Value.self }
}

/// A dictionary that can be encoded, whatever its types.
protocol EncodableDictionary {
    /// The entries, if they are encoded as a list because the keys are not JSON keys.
    var pairs: [(any Encodable, any Encodable)]? { get }
}

extension Dictionary: EncodableDictionary where Key: Encodable, Value: Encodable {
    var pairs: [(any Encodable, any Encodable)]? {
        if Key.self == String.self || Key.self == Int.self
            || Key.self is any CodingKeyRepresentable.Type
        {
            return nil
        }
        return map { ($0.key, $0.value) }
    }
}

/// A list of models, whatever their type: a list of references in a record.
protocol ModelList {
    static var modelType: any CloudKitModel.Type { get }
}

extension Array: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }
}

extension Set: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }
}
