import CloudKit

#if !canImport(Darwin)
@_spi(Reflection) import Swift
#endif

/// A property of a type, as a coder requested it or a declaration lists it.
struct KnownProperty: @unchecked Sendable {
    // @unchecked Sendable because its properties are constants, a type among them.

    /// The coding key.
    let key: String

    /// The type of the value.
    let type: Any.Type

    /// `true` when the property may have no value.
    let isOptional: Bool

    init(_ key: String, _ type: Any.Type, isOptional: Bool = false) {
        self.key = key
        self.type = type
        self.isOptional = isOptional
    }

    /// Returns the type of the models in a property; nil when it holds none.
    static func model(in type: Any.Type) -> (any CloudKitModel.Type)? {
        if let model = type as? any CloudKitModel.Type { return model }
        if let list = type as? any ModelList.Type { return list.modelType }
        if let optional = type as? any OptionalValue.Type { return model(in: optional.wrappedType) }
        return nil
    }
}

/// An array, whatever its type.
protocol AnyArray {
    static var elementType: Any.Type { get }
}

extension Array: AnyArray {
    static var elementType: Any.Type { Element.self }
}

/// The properties of a model, as its mapping lists them.
public struct CloudKitPropertyList {
    private(set) var properties: [KnownProperty] = []

    /// Creates an empty list.
    init() {}

    /// Adds a property with its coding key.
    public mutating func add(_ type: Any.Type, _ key: some CodingKey) {
        properties.append(KnownProperty(key.stringValue, type))
    }
}

/// The properties that a model declares with their types, by its macro or in its `fields`.
enum DeclaredProperties {
    /// Returns the properties in the order of the declaration; nil when the model declares no types.
    static func of(_ model: any CloudKitModel.Type) -> [KnownProperty]? {
        var list = CloudKitPropertyList()
        if let mapped = model as? any CloudKitMappedModel.Type, mapped.mappedType == model {
            mapped.listProperties(in: &list)
            if !list.properties.isEmpty { return list.properties }
        }
        let named = model.fields.entries.compactMap { key, field in
            field.type.map { KnownProperty(key, $0.type) }
        }
        return named.isEmpty ? nil : named
    }
}

/// The stored properties of a type, as the compiler recorded them: names and types, no values.
///
/// They show early which records a value will request. Nothing depends on them: a property that they
/// miss, because its coding key has another name, is found when the value is decoded.
enum StoredProperties {
    /// Returns the stored properties; none if the platform's standard library does not report them.
    static func of(_ type: Any.Type) -> [KnownProperty] {
        #if canImport(Darwin)
        return []
        #else
        var properties: [KnownProperty] = []
        // Without the option for classes, nothing is found in a class.
        let options = _EachFieldOptions(rawValue: type is AnyClass ? 1 : 0)
        _forEachField(of: type, options: options) { name, _, type, _ in
            properties.append(KnownProperty(String(cString: name), type))
            return true
        }
        return properties
        #endif
    }
}
