import CloudKit
import Synchronization

/// The properties of a type that are known without running its code: those that it declares, that
/// decodings requested and that encodings wrote since the process started.
///
/// It distinguishes the type's own fields from those of other versions of the app, and determines
/// which records to fetch before they are requested.
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

    /// The properties that decodings requested, in the order of the first requests.
    var asked: [KnownProperty] { state.withLock { $0.asked } }

    /// Records a property that a decoding requested.
    ///
    /// - Returns: Its index among the requested properties.
    func note(_ property: KnownProperty) -> Int {
        state.withLock { state in
            if let place = state.places[property.key] { return place }
            state.asked.append(property)
            state.places[property.key] = state.asked.count - 1
            return state.asked.count - 1
        }
    }

    /// Returns whether a decoding requested a key.
    func wasAsked(for key: String) -> Bool { state.withLock { $0.places[key] != nil } }

    /// The keys that values wrote, if the key type accepts any name.
    var written: Set<String> { state.withLock { $0.written } }

    /// Records the keys that a value wrote, unless the key type lists all of them.
    func note(written keys: () -> Set<String>) {
        let isOpen = state.withLock { state in
            !state.keySpaces.isEmpty && !state.keySpaces.allSatisfy(\.isClosed)
        }
        guard isOpen else { return }
        let keys = keys()
        state.withLock { $0.written.formUnion(keys) }
    }

    /// The key types with which values were encoded.
    var keySpaces: [KeySpace] { state.withLock { $0.keySpaces } }

    /// Records the key type of a container that is encoded.
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
    /// They come from the type's declarations, the types of its stored properties, and earlier
    /// decodings.
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
            // Relations that were learned in the meantime are included.
            for relation in state.relations ?? [] {
                for type in relation.types {
                    Self.add(relation.key, type, options[relation.key], to: &relations)
                }
            }
            state.relations = relations
            return relations
        }
    }

    /// Returns the types of the models that a property is known to hold.
    func types(of key: String, in model: any CloudKitModel.Type) -> [any CloudKitModel.Type] {
        relations(of: model).first { $0.key == key }?.types ?? []
    }

    /// Records that a property leads to models of a type.
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

    /// The fields that refer to owners of the type's values; only the owners write them.
    var ownerFields: Set<String> { state.withLock { $0.ownerFields } }

    private static func noteOwners(of relations: [ModelRelation]) {
        for relation in relations where relation.isChildren {
            for type in relation.types {
                let names = [relation.field, relation.field + RecordField.positionSuffix]
                TypeTraits.of(type).memory.state.withLock { $0.ownerFields.formUnion(names) }
            }
        }
    }
}

/// The coding keys of a container's type: the names that can be its keys.
struct KeySpace: Sendable {
    private let identifier: ObjectIdentifier

    /// `true` when the type has a fixed set of names, like an enumeration.
    let isClosed: Bool

    /// All names, if the type lists them.
    let all: [String]

    private let isKey: @Sendable (String) -> Bool

    init<Key: CodingKey>(_ type: Key.Type) {
        identifier = ObjectIdentifier(type)
        // No property has this name: a type that accepts it accepts everything.
        isClosed = Key(stringValue: "\u{1}") == nil
        isKey = { name in Key(stringValue: name) != nil }
        all = (type as? any CaseIterable.Type).map { Self.names($0) } ?? []
    }

    private static func names<Keys: CaseIterable>(_ type: Keys.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any CodingKey)?.stringValue }
    }

    /// Returns whether the keys are those of a type.
    func isOf(_ type: any CodingKey.Type) -> Bool { identifier == ObjectIdentifier(type) }

    /// Returns whether a name is certainly a key.
    func owns(_ name: String) -> Bool { isClosed && isKey(name) }
}

/// A property of a model that leads to other records.
struct ModelRelation: @unchecked Sendable {
    // @unchecked Sendable because it is a value whose types are constants.

    /// The coding key.
    let key: String

    /// The field that refers to the models; for children, a field of the models' records.
    let field: String

    /// `true` when the models refer to the owner.
    let isChildren: Bool

    /// The types that were requested under the key.
    var types: [any CloudKitModel.Type]

    /// Creates the relation of a property; nil when the property holds no records of their own.
    init?(_ key: String, _ target: any CloudKitModel.Type, _ options: CloudKitField?) {
        switch options?.storage {
        case nil, .automatic?: break
        default: return nil
        }
        self.key = key
        types = [target]
        if case .children(let via, _, _)? = options?.relation {
            field = via
            isChildren = true
        } else {
            field = options?.name ?? key
            isChildren = false
        }
    }
}
