import Synchronization

/// What is known of a type's properties without running its code: what it declares, what its
/// decodings asked for and its encodings wrote, for as long as the process runs.
///
/// It tells the fields that are the type's own from those of other versions of the app, and which
/// records to fetch before they are asked for.
final class PropertyMemory: Sendable {
    private struct State {
        var asked: [KnownProperty] = []
        var places: [String: Int] = [:]
        var keySpaces: [KeySpace] = []
        var written: Set<String> = []
        var relations: [ModelRelation]?
        var ownerFields: Set<String> = []
    }

    private let state = Mutex(State())

    // MARK: Keys

    /// The properties that decodings asked for, in the order in which they did first.
    var asked: [KnownProperty] { state.withLock { $0.asked } }

    /// Takes a property that a decoding asked for.
    ///
    /// - Returns: Its place among those that were asked for.
    func note(_ property: KnownProperty) -> Int {
        state.withLock { state in
            if let place = state.places[property.key] { return place }
            state.asked.append(property)
            state.places[property.key] = state.asked.count - 1
            return state.asked.count - 1
        }
    }

    /// Whether a decoding asked for a key.
    func wasAsked(for key: String) -> Bool { state.withLock { $0.places[key] != nil } }

    /// The keys that values wrote, where the type of the keys takes any name.
    var written: Set<String> { state.withLock { $0.written } }

    /// Takes the keys that a value wrote, unless the type of its keys says all of them.
    func note(written keys: () -> Set<String>) {
        let isOpen = state.withLock { state in
            !state.keySpaces.isEmpty && !state.keySpaces.allSatisfy(\.isClosed)
        }
        guard isOpen else { return }
        let keys = keys()
        state.withLock { $0.written.formUnion(keys) }
    }

    /// The types of keys with which values were encoded.
    var keySpaces: [KeySpace] { state.withLock { $0.keySpaces } }

    /// Takes the type of the keys of a container that is encoded.
    func note<Key: CodingKey>(_ type: Key.Type) {
        let isKnown = state.withLock { $0.keySpaces.contains { $0.isOf(type) } }
        if isKnown { return }
        let keys = KeySpace(type)
        state.withLock { state in
            if !state.keySpaces.contains(where: { $0.isOf(type) }) { state.keySpaces.append(keys) }
        }
    }

    // MARK: Relations

    /// The properties of a model that lead to other records, as far as they are known.
    ///
    /// They are what the type declares, the types of its stored properties, and what was learned.
    func relations(of model: any CloudKitModel.Type) -> [ModelRelation] {
        if let relations = state.withLock({ $0.relations }) { return relations }
        let options = model.fields.byKey
        var relations: [ModelRelation] = []
        let declared = DeclaredProperties.of(model) ?? []
        for property in declared + StoredProperties.of(model) {
            guard let target = KnownProperty.model(in: property.type) else { continue }
            Self.add(property.key, target, options[property.key], to: &relations)
        }
        Self.noteOwners(of: relations)
        return state.withLock { state in
            // What was learned in the meantime is there too.
            for relation in state.relations ?? [] {
                for type in relation.types {
                    Self.add(relation.key, type, options[relation.key], to: &relations)
                }
            }
            state.relations = relations
            return relations
        }
    }

    /// The types of the models that a property is known to hold.
    func types(of key: String, in model: any CloudKitModel.Type) -> [any CloudKitModel.Type] {
        relations(of: model).first { $0.key == key }?.types ?? []
    }

    /// Takes a property that turned out to lead to models of a type.
    func learn(
        _ key: String,
        _ target: any CloudKitModel.Type,
        _ options: CloudKitField?,
        of model: any CloudKitModel.Type
    ) {
        var relations = relations(of: model)
        if relations.contains(where: { $0.key == key && $0.types.contains { $0 == target } }) {
            return
        }
        state.withLock { state in
            relations = state.relations ?? relations
            Self.add(key, target, options, to: &relations)
            state.relations = relations
        }
        Self.noteOwners(of: relations)
    }

    private static func add(
        _ key: String,
        _ target: any CloudKitModel.Type,
        _ options: CloudKitField?,
        to relations: inout [ModelRelation]
    ) {
        guard let index = relations.firstIndex(where: { $0.key == key }) else {
            if let relation = ModelRelation(key, target, options) { relations.append(relation) }
            return
        }
        if !relations[index].types.contains(where: { $0 == target }) {
            relations[index].types.append(target)
        }
    }

    // MARK: Owners

    /// The fields that refer to owners of the type's values: they are the owners' to write.
    var ownerFields: Set<String> { state.withLock { $0.ownerFields } }

    private static func noteOwners(of relations: [ModelRelation]) {
        for relation in relations where relation.isChildren {
            for type in relation.types {
                let names = [relation.field, relation.field + GraphEncoding.positionSuffix]
                TypeTraits.of(type).memory.state.withLock { $0.ownerFields.formUnion(names) }
            }
        }
    }
}
