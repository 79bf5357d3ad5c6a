/// The check for contradictions in a model.
///
/// No step recurses into a hierarchy, because a model may come from an untrusted source.
struct ModelConsistency {
    /// The maximum depth of entities or composites.
    ///
    /// Long before it, a store's table would exceed SQLite's limit of columns.
    static let deepest = 100

    private let model: CoreDataModel

    init(_ model: CoreDataModel) {
        self.model = model
    }

    func check() throws(CoreDataModelError) {
        try Self.requireUnique(model.entities.map(\.name), "the model", "entities")
        try Self.requireUnique(model.composites.map(\.name), "the model", "composites")
        try Self.requireUnique(model.configurations.map(\.name), "the model", "configurations")
        try checkParents()
        try checkComposites()
        for entity in model.entities {
            try Self.requireUnique(
                entity.attributes.map(\.name) + entity.relationships.map(\.name)
                    + entity.fetchedProperties.map(\.name),
                entity.name,
                "properties"
            )
            for attribute in entity.attributes {
                try check(attribute, "\(entity.name).\(attribute.name)")
            }
            for relationship in entity.relationships { try check(relationship, of: entity) }
        }
        for configuration in model.configurations {
            for name in configuration.entities where model.entity(named: name) == nil {
                throw CoreDataModelError(
                    .inconsistent,
                    "configuration \(configuration.name)",
                    "its entity \(name) is not in the model"
                )
            }
        }
    }

    private static func requireUnique(
        _ names: [String],
        _ place: String,
        _ kind: String
    ) throws(CoreDataModelError) {
        var seen: Set<String> = []
        for name in names {
            guard !name.isEmpty else {
                throw CoreDataModelError(.inconsistent, place, "one of its \(kind) has no name")
            }
            guard seen.insert(name).inserted else {
                throw CoreDataModelError(
                    .inconsistent,
                    place,
                    "two of its \(kind) are called \(name); rename one"
                )
            }
        }
    }

    // MARK: Circles

    private func checkParents() throws(CoreDataModelError) {
        for entity in model.entities {
            if let parent = entity.parent, model.entity(named: parent) == nil {
                throw CoreDataModelError(
                    .inconsistent,
                    entity.name,
                    "its parent \(parent) is not in the model"
                )
            }
        }
        let parents = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.parent) })
        try Self.requireTree(model.entities.map(\.name), "entities") { name in
            [parents[name].flatMap(\.self)].compactMap(\.self)
        }
    }

    private func checkComposites() throws(CoreDataModelError) {
        let composites = Dictionary(uniqueKeysWithValues: model.composites.map { ($0.name, $0) })
        for composite in model.composites {
            let place = "composite \(composite.name)"
            try Self.requireUnique(composite.attributes.map(\.name), place, "attributes")
            for attribute in composite.attributes {
                try check(attribute, "\(place), \(attribute.name)")
            }
        }
        try Self.requireTree(model.composites.map(\.name), "composites") { name in
            composites[name]?.attributes.compactMap(\.compositeName) ?? []
        }
    }

    /// Follows steps from each name, without recursion, and refuses cycles and excessive depths.
    private static func requireTree(
        _ names: [String],
        _ kind: String,
        steps: (String) -> [String]
    ) throws(CoreDataModelError) {
        /// The longest path from a name; nil while it is being followed.
        var lengths: [String: Int?] = [:]
        for start in names where lengths[start] == nil {
            var path: [(name: String, rest: [String], length: Int)] = [(start, steps(start), 1)]
            lengths[start] = .some(nil)
            while let last = path.indices.last {
                guard let next = path[last].rest.popLast() else {
                    let done = path.removeLast()
                    lengths[done.name] = done.length
                    if let above = path.indices.last {
                        path[above].length = max(path[above].length, done.length + 1)
                    }
                    continue
                }
                switch lengths[next] {
                case nil:
                    lengths[next] = .some(nil)
                    path.append((next, steps(next), 1))
                case .some(nil):
                    throw CoreDataModelError(
                        .inconsistent,
                        next,
                        "\(kind) form a cycle: "
                            + (path.map(\.name).drop { $0 != next }.prefix(8) + [next])
                            .joined(separator: " → ")
                    )
                case .some(let length?):
                    path[last].length = max(path[last].length, length + 1)
                }
                if path[last].length > deepest || path.count > deepest {
                    throw CoreDataModelError(
                        .tooLarge,
                        start,
                        "more than \(deepest) levels of \(kind)"
                    )
                }
            }
        }
    }

    // MARK: Properties

    private func check(
        _ attribute: CoreDataModel.Attribute,
        _ place: String
    ) throws(CoreDataModelError) {
        guard let name = attribute.compositeName, model.composite(named: name) == nil else {
            return
        }
        throw CoreDataModelError(.inconsistent, place, "its composite \(name) is not in the model")
    }

    private func check(
        _ relationship: CoreDataModel.Relationship,
        of entity: CoreDataModel.Entity
    ) throws(CoreDataModelError) {
        let place = "\(entity.name).\(relationship.name)"
        guard model.entity(named: relationship.destination) != nil else {
            throw CoreDataModelError(
                .inconsistent,
                place,
                "its destination \(relationship.destination) is not in the model"
            )
        }
        guard let name = relationship.inverseName else { return }
        guard model.inverse(of: relationship) != nil else {
            throw CoreDataModelError(
                .inconsistent,
                place,
                "its inverse \(relationship.inverseEntity ?? relationship.destination).\(name) is no "
                    + "relationship of the model"
            )
        }
    }
}
