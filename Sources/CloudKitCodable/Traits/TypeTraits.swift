public import CloudKit
import Synchronization

/// Facts about a type that the coders need, computed once: checking a conformance costs more than
/// storing a value.
struct TypeTraits: @unchecked Sendable {
    // @unchecked Sendable because its properties are constants, types among them.

    /// The kind of field that the type becomes.
    let kind: FieldKind

    /// The type's name, which takes long to create.
    let name: String

    /// `true` when its values determine their records.
    let isRepresentable: Bool

    /// `true` for a class, which may share a record with its superclass.
    let isClass: Bool

    /// The type as a model's; nil when it is not a model.
    let model: (any CloudKitModel.Type)?

    /// The type as one whose values read and write their fields themselves; nil when it is none.
    let mapped: (any CloudKitMappedModel.Type)?

    /// Returns a value of the type as one that writes its fields itself; nil when it does not.
    func mapped(_ value: any Encodable) -> (any CloudKitMappedModel)? {
        mapped == nil ? nil : value as? any CloudKitMappedModel
    }

    /// The known properties of the type.
    let memory = PropertyMemory()

    /// The model that an optional, a list or a dictionary of the type holds, or the type itself; nil
    /// when its name shows none.
    let heldModel: (any CloudKitModel.Type)?

    /// Returns the model within a type, as far as types that hold others show it.
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

    /// Returns the traits of a type.
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
            // There is one memory for each type, however many callers request the first one
            // simultaneously.
            if let first = known[identifier] { return first }
            known[identifier] = traits
            return traits
        }
    }
}

// Names of types are traits, because they are remembered.
extension CloudKitModel {
    /// The name of the Swift type.
    public static var recordType: CKRecord.RecordType { TypeTraits.of(Self.self).name }
}

extension CloudKitRecordRepresentable {
    /// The name of the Swift type.
    public var cloudKitRecordType: String { TypeTraits.of(type(of: self)).name }
}
