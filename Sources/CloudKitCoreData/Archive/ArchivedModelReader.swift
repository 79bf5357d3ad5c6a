import CloudKitBasics
import Foundation

/// A reader of the model in a store's keyed archive, or in a compiled `.mom`.
struct ArchivedModelReader {
    /// The name of the configuration with all entities, which every model has.
    private static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    var archive: KeyedArchive
    private(set) var unknown: [CoreDataModel.UnknownPart] = []

    /// Reads the model in an archive.
    ///
    /// - Throws: ``CoreDataModelError`` for bytes that are not an archived model.
    static func model(_ data: Data) throws(CoreDataModelError) -> CoreDataModel {
        var reader = Self(archive: try KeyedArchive(data))
        var model = try reader.model()
        model.isArchived = true
        return model
    }

    private mutating func model() throws(CoreDataModelError) -> CoreDataModel {
        var root = ArchivedObject(try archive.root(), "")
        guard root.className == "NSManagedObjectModel",
            let named = try archive.dictionary(root.take("NSEntities"))
        else {
            throw BinaryPropertyList.failure("it holds a \(root.className), not a model")
        }
        var entities: [CoreDataModel.Entity] = []
        for entry in named { entities.append(try entity(entry.key, entry.value)) }
        let configurations = try configurations(root.take("NSConfigurations"))
        var requests: [CoreDataModel.FetchRequest] = []
        for entry in try archive.dictionary(root.take("NSFetchRequestTemplates")) ?? [] {
            requests.append(CoreDataModel.FetchRequest(name: entry.key, entity: nil))
        }
        let identifiers = try texts(root.take("NSVersionIdentifiers"))
        try note(root)
        return try CoreDataModel(
            entities: Self.withoutInherited(entities),
            configurations: configurations,
            fetchRequests: requests,
            versionIdentifiers: identifiers.sorted(),
            unknownParts: unknown
        )
    }

    /// Removes inherited properties, which archives list among an entity's own.
    private static func withoutInherited(
        _ entities: [CoreDataModel.Entity]
    ) -> [CoreDataModel.Entity] {
        let named = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        let properties = named.mapValues {
            Set(
                $0.attributes.map(\.name) + $0.relationships.map(\.name)
                    + $0.fetchedProperties.map(\.name)
            )
        }
        return entities.map { entity in
            var own = entity
            var inherited: Set<String> = []
            var parent = entity.parent
            // A cycle is reported later, with its entities' names.
            for _ in 0..<ModelConsistency.deepest {
                guard let name = parent else { break }
                inherited.formUnion(properties[name] ?? [])
                parent = named[name]?.parent
            }
            own.attributes.removeAll { inherited.contains($0.name) }
            own.relationships.removeAll { inherited.contains($0.name) }
            own.fetchedProperties.removeAll { inherited.contains($0.name) }
            return own
        }
    }

    // MARK: Parts

    private mutating func entity(
        _ key: String,
        _ place: Int
    ) throws(CoreDataModelError) -> CoreDataModel.Entity {
        guard let instance = try archive.instance(place) else {
            throw BinaryPropertyList.failure("its entity \(key) is not an entity")
        }
        var object = ArchivedObject(instance, key)
        var entity = CoreDataModel.Entity(
            name: try archive.text(object.take("NSEntityName")) ?? key
        )
        entity.className = try archive.text(object.take("NSClassNameForEntity"))
        if let parent = object.take("NSSuperentity"), let above = try archive.instance(parent) {
            entity.parent = try archive.text(above.fields["NSEntityName"])
        }
        entity.isAbstract = try archive.flag(object.take("NSIsAbstract")) ?? false
        entity.renamingIdentifier = try renaming(&object, entity.name)
        entity.versionHashModifier = try archive.text(object.take("NSVersionHashModifier"))
        entity.userInfo = try userInfo(object.take("NSUserInfo"))
        entity.uniquenessConstraints = try tuples(object.take("NSUniqueTuples"))
        for property in try archive.dictionary(object.take("NSProperties")) ?? [] {
            try read(property.key, property.value, into: &entity)
        }
        object.ignore("NSSubentities", "NSManagedObjectModel")
        try note(object)
        return entity
    }

    /// Returns the former name; nil if it equals the current one, which archives then repeat.
    mutating func renaming(
        _ object: inout ArchivedObject,
        _ name: String
    ) throws(CoreDataModelError) -> String? {
        try archive.text(object.take("NSRenamingIdentifier")).flatMap {
            $0.isEmpty || $0 == name ? nil : $0
        }
    }

    mutating func userInfo(_ place: Int?) throws(CoreDataModelError) -> [String: String] {
        var entries: [String: String] = [:]
        for entry in try archive.dictionary(place) ?? [] {
            if let text = try archive.text(entry.value) {
                entries[entry.key] = text
            } else if let number = try archive.integer(entry.value) {
                entries[entry.key] = String(number)
            }
        }
        return entries
    }

    private mutating func texts(_ place: Int?) throws(CoreDataModelError) -> [String] {
        var texts: [String] = []
        for item in try archive.list(place) ?? [] {
            if let text = try archive.text(item) { texts.append(text) }
        }
        return texts
    }

    /// Returns lists of properties, which are given by name or as objects.
    private mutating func tuples(_ place: Int?) throws(CoreDataModelError) -> [[String]] {
        var tuples: [[String]] = []
        for tuple in try archive.list(place) ?? [] {
            var names: [String] = []
            for item in try archive.list(tuple) ?? [tuple] {
                if let name = try archive.text(item) {
                    names.append(name)
                } else if let property = try archive.instance(item),
                    let name = try archive.text(property.fields["NSPropertyName"])
                {
                    names.append(name)
                }
            }
            if !names.isEmpty { tuples.append(names) }
        }
        return tuples
    }

    private mutating func configurations(
        _ place: Int?
    ) throws(CoreDataModelError) -> [CoreDataModel.Configuration] {
        var configurations: [CoreDataModel.Configuration] = []
        for entry in try archive.dictionary(place) ?? []
        where entry.key != Self.defaultConfiguration {
            var names: Set<String> = []
            for item in try archive.list(entry.value) ?? [] {
                if let name = try archive.text(item) {
                    names.insert(name)
                } else if let entity = try archive.instance(item),
                    let name = try archive.text(entity.fields["NSEntityName"])
                {
                    names.insert(name)
                }
            }
            configurations.append(
                CoreDataModel.Configuration(name: entry.key, entities: names.sorted())
            )
        }
        return configurations
    }

    /// Keeps the keys that were not read.
    mutating func note(_ object: ArchivedObject) throws(CoreDataModelError) {
        for (key, place) in object.rest.sorted(by: { $0.key < $1.key }) {
            let value: String? =
                switch try archive.plain(place) {
                case .boolean(let flag): String(flag)
                case .integer(let number): String(number)
                case .double(let number): String(number)
                case .string(let text): text
                default: nil
                }
            unknown.append(
                CoreDataModel.UnknownPart(place: object.place, name: key, value: value)
            )
        }
    }

    mutating func noteUnknown(_ name: String, in place: String, _ value: String) {
        unknown.append(CoreDataModel.UnknownPart(place: place, name: name, value: value))
    }
}

/// An archived object, which records the keys that were not read.
struct ArchivedObject {
    let className: String
    /// The part of the model that the object represents.
    let place: String
    private(set) var rest: [String: Int]

    init(_ instance: KeyedArchive.Instance, _ place: String) {
        className = instance.className
        self.place = place
        rest = instance.fields
    }

    mutating func take(_ key: String) -> Int? { rest.removeValue(forKey: key) }

    mutating func ignore(_ keys: String...) {
        for key in keys { rest[key] = nil }
    }
}
