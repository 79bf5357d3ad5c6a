import Synchronization

/// What the coders ask of a type, found out once: asking for a conformance costs more than storing
/// a value.
struct TypeTraits: @unchecked Sendable {
    // @unchecked Sendable because its properties are constants, types among them.

    /// What the type is as a field.
    let kind: FieldKind

    /// The type's name, which takes long to make.
    let name: String

    /// Whether its values say themselves which record they are.
    let isRepresentable: Bool

    /// Whether it is a class, which may share a record with its superclass.
    let isClass: Bool

    /// The type as a model's; nil when it is none.
    let model: (any CloudKitModel.Type)?

    /// The type as one whose values write and read their fields themselves; nil when it is none.
    let mapped: (any CloudKitMappedModel.Type)?

    /// What is known of the type's properties.
    let memory = PropertyMemory()

    /// The model that an optional, a list or a dictionary of the type holds, or that it is itself;
    /// nil when its name shows none.
    let heldModel: (any CloudKitModel.Type)?

    /// The model within a type, as far as types that hold others show it.
    private static func heldModel(_ type: Any.Type) -> (any CloudKitModel.Type)? {
        if let model = type as? any CloudKitModel.Type { return model }
        if let optional = type as? any OptionalValue.Type { return heldModel(optional.wrappedType) }
        if let list = type as? any DecodableList.Type { return heldModel(list.elementType) }
        if let set = type as? any DecodableSet.Type { return heldModel(set.elementType) }
        if let table = type as? any DecodableDictionary.Type {
            return heldModel(table.valueType) ?? heldModel(table.keyType)
        }
        return nil
    }

    private static let known = Mutex<[ObjectIdentifier: TypeTraits]>([:])

    /// The traits of a type.
    static func of(_ type: Any.Type) -> TypeTraits {
        let identifier = ObjectIdentifier(type)
        if let traits = known.withLock({ $0[identifier] }) { return traits }
        let traits = TypeTraits(
            kind: FieldKind.classify(type),
            name: String(describing: type),
            isRepresentable: type is any CloudKitRecordRepresentable.Type,
            isClass: type is AnyClass,
            model: type as? any CloudKitModel.Type,
            mapped: (type as? any CloudKitMappedModel.Type).flatMap {
                $0.mappedType == type && !$0._isCodedByHand ? $0 : nil
            },
            heldModel: heldModel(type)
        )
        return known.withLock { known in
            // There is one memory for each type, however many ask for the first time at once.
            if let first = known[identifier] { return first }
            known[identifier] = traits
            return traits
        }
    }
}
