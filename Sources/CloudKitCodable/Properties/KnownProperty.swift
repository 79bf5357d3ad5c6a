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
