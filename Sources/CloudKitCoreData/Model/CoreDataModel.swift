/// One version of a Core Data or SwiftData model.
///
/// ```swift
/// let versions = try CoreDataModelVersions(contentsOf: URL(fileURLWithPath: "App.xcdatamodeld"))
/// let model = try versions.current
/// print(try CloudKitSchema(mirroring: model).text)
/// for finding in model.findings() where finding.severity == .error { print(finding) }
/// ```
///
/// A model is consistent: names are unique, parents and composites form no cycle, and relationships
/// refer to existing parts. ``findings(_:)`` checks CloudKit's additional requirements.
public struct CoreDataModel: Hashable, Sendable {
    /// The names that the app gave to this version.
    public let versionIdentifiers: [String]
    /// The entities, by name.
    public let entities: [Entity]
    /// The composites, by name.
    public let composites: [Composite]
    /// The configurations, by name, without the default one, which has all entities.
    public let configurations: [Configuration]
    /// The fetch requests of the model, by name.
    public let fetchRequests: [FetchRequest]
    /// A Boolean value that indicates whether the model's editor marks it for use with CloudKit.
    ///
    /// The mirroring ignores it.
    public let isUsedWithCloudKit: Bool
    /// The parts of the file that this package does not know.
    public let unknownParts: [UnknownPart]
    /// `true` when the model was read from an archive, which does not show whether values may be
    /// stored in files.
    package internal(set) var isArchived = false

    private let places: [String: Int]
    private let children: [String: [String]]
    private let relationshipPlaces: [String: [String: Int]]

    /// Creates a model.
    ///
    /// - Throws: ``CoreDataModelError`` with the entity and property for parts that contradict each
    ///   other.
    public init(
        entities: [Entity],
        composites: [Composite] = [],
        configurations: [Configuration] = [],
        fetchRequests: [FetchRequest] = [],
        versionIdentifiers: [String] = [],
        isUsedWithCloudKit: Bool = false,
        unknownParts: [UnknownPart] = []
    ) throws(CoreDataModelError) {
        self.entities = entities.map(\.sorted).sorted { $0.name < $1.name }
        self.composites = composites.map(\.sorted).sorted { $0.name < $1.name }
        self.configurations = configurations.sorted { $0.name < $1.name }
        self.fetchRequests = fetchRequests.sorted { $0.name < $1.name }
        self.versionIdentifiers = versionIdentifiers
        self.isUsedWithCloudKit = isUsedWithCloudKit
        self.unknownParts = unknownParts
        places = Dictionary(zip(self.entities.map(\.name), self.entities.indices)) { first, _ in
            first
        }
        children = Dictionary(grouping: self.entities.filter { $0.parent != nil }) {
            $0.parent ?? ""
        }
        .mapValues { $0.map(\.name) }
        relationshipPlaces = self.entities.reduce(into: [:]) { places, entity in
            let names = entity.relationships.map(\.name)
            places[entity.name] = Dictionary(zip(names, names.indices)) { first, _ in first }
        }
        try ModelConsistency(self).check()
    }

    /// Returns the entity with a name.
    public func entity(named name: String) -> Entity? { places[name].map { entities[$0] } }

    /// Returns the composite with a name.
    public func composite(named name: String) -> Composite? {
        composites.first { $0.name == name }
    }

    /// Returns the configuration with a name.
    public func configuration(named name: String) -> Configuration? {
        configurations.first { $0.name == name }
    }

    // MARK: Inheritance

    /// The entities without a parent, by name.
    public var roots: [Entity] { entities.filter { $0.parent == nil } }

    /// Returns the entities that an entity inherits from, the root first.
    public func ancestors(of entity: Entity) -> [Entity] {
        var found: [Entity] = []
        var next = entity.parent.flatMap { self.entity(named: $0) }
        while let parent = next {
            found.append(parent)
            next = parent.parent.flatMap { self.entity(named: $0) }
        }
        return found.reversed()
    }

    /// Returns the root of an entity's hierarchy, which is the entity itself if it has no parent.
    public func root(of entity: Entity) -> Entity { ancestors(of: entity).first ?? entity }

    /// Returns the entities that inherit directly from an entity, by name.
    public func subentities(of entity: Entity) -> [Entity] {
        (children[entity.name] ?? []).compactMap { self.entity(named: $0) }
    }

    /// Returns an entity and all entities that inherit from it: parents before children, by name.
    public func hierarchy(below entity: Entity) -> [Entity] {
        var found: [Entity] = []
        var waiting = [entity]
        while let next = waiting.popLast() {
            found.append(next)
            waiting += subentities(of: next).reversed()
        }
        return found
    }

    /// Returns the attributes of an entity's objects: those of its ancestors, then its own.
    ///
    /// An attribute that is declared again has the definition of the nearest entity.
    public func attributes(of entity: Entity) -> [Attribute] {
        Self.merged((ancestors(of: entity) + [entity]).map(\.attributes), by: \.name)
    }

    /// Returns the relationships of an entity's objects: those of its ancestors, then its own.
    public func relationships(of entity: Entity) -> [Relationship] {
        Self.merged((ancestors(of: entity) + [entity]).map(\.relationships), by: \.name)
    }

    private static func merged<Part>(
        _ levels: [[Part]],
        by name: (Part) -> String
    ) -> [Part] {
        var places: [String: Int] = [:]
        var found: [Part] = []
        for part in levels.joined() {
            if let place = places[name(part)] {
                found[place] = part
            } else {
                places[name(part)] = found.count
                found.append(part)
            }
        }
        return found
    }

    // MARK: Relationships

    /// Returns the inverse relationship; nil when there is none.
    public func inverse(of relationship: Relationship) -> Relationship? {
        inverseAndOwner(of: relationship)?.inverse
    }

    /// Returns the name of the entity that declares the inverse relationship.
    func owner(ofInverseOf relationship: Relationship) -> String? {
        inverseAndOwner(of: relationship)?.owner
    }

    private func inverseAndOwner(
        of relationship: Relationship
    ) -> (inverse: Relationship, owner: String)? {
        guard let name = relationship.inverseName,
            var entity = entity(named: relationship.inverseEntity ?? relationship.destination)
        else { return nil }
        while true {
            if let place = relationshipPlaces[entity.name]?[name] {
                return (entity.relationships[place], entity.name)
            }
            guard let parent = entity.parent.flatMap({ self.entity(named: $0) }) else { return nil }
            entity = parent
        }
    }

    /// Returns whether both a relationship and its inverse lead to several objects.
    public func isManyToMany(_ relationship: Relationship) -> Bool {
        relationship.isToMany && inverse(of: relationship)?.isToMany == true
    }
}

extension CoreDataModel.Entity {
    /// The entity with its parts sorted by name, because their order in a file has no meaning.
    fileprivate var sorted: Self {
        var entity = self
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties.sort { $0.name < $1.name }
        entity.fetchIndexes.sort { $0.name < $1.name }
        return entity
    }
}

extension CoreDataModel.Composite {
    fileprivate var sorted: Self {
        var composite = self
        composite.attributes.sort { $0.name < $1.name }
        return composite
    }
}
