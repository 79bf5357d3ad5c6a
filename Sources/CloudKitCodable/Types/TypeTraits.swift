import Synchronization

/// What the coders ask of a type, found out once.
struct TypeTraits: Sendable {
    /// What the type is as a field.
    let kind: FieldKind

    /// The type's name, which takes long to make.
    let name: String

    /// Whether its values say themselves which record they are.
    let isRepresentable: Bool

    /// Whether its values write and read their fields themselves.
    let isMapped: Bool

    private static let known = Mutex<[ObjectIdentifier: TypeTraits]>([:])

    /// The traits of a type.
    static func of(_ type: Any.Type) -> TypeTraits {
        let identifier = ObjectIdentifier(type)
        if let traits = known.withLock({ $0[identifier] }) { return traits }
        let traits = TypeTraits(
            kind: FieldKind.classify(type),
            name: String(describing: type),
            isRepresentable: type is any CloudKitRecordRepresentable.Type,
            isMapped: (type as? any CloudKitMappedModel.Type).map { $0.mappedType == type } ?? false
        )
        known.withLock { $0[identifier] = traits }
        return traits
    }
}
