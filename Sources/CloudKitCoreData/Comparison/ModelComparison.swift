/// A comparison of two versions of a model.
struct ModelComparison {
    let old: CoreDataModel
    let new: CoreDataModel
    /// The names of old entities, by those of new ones.
    let formerNames: [String: String]

    init(old: CoreDataModel, new: CoreDataModel) {
        self.old = old
        self.new = new
        let pairs = Self.pairs(old.entities, new.entities, \.name, \.renamingIdentifier)
        formerNames = pairs.reduce(into: [:]) { names, pair in
            if let old = pair.old, let new = pair.new { names[new.name] = old.name }
        }
    }

    func changes() -> [CoreDataModelChange] {
        var changes: [CoreDataModelChange] = []
        for pair in Self.pairs(old.entities, new.entities, \.name, \.renamingIdentifier) {
            switch (pair.old, pair.new) {
            case (nil, let entity?):
                changes.append(Self.change(.added, entity.name, "a new entity"))
            case (let entity?, nil):
                changes.append(
                    Self.change(
                        .removed,
                        entity.name,
                        "the entity was removed",
                        cloud: "CD_\(old.root(of: entity).name) and its records stay"
                    )
                )
            case (let before?, let after?): changes += differences(before, after)
            case (nil, nil): break
            }
        }
        changes += memberships()
        return changes.sorted {
            ($0.entity, $0.property ?? "", $0.text) < ($1.entity, $1.property ?? "", $1.text)
        }
    }

    static func change(
        _ kind: CoreDataModelChange.Kind,
        _ entity: String,
        _ text: String,
        of property: String? = nil,
        mapping: String? = nil,
        cloud: String? = nil
    ) -> CoreDataModelChange {
        CoreDataModelChange(
            kind: kind,
            entity: entity,
            property: property,
            text: text,
            migration: mapping.map { .needsMapping($0) } ?? .automatic,
            cloudEffect: cloud
        )
    }

    // MARK: Pairs

    /// Returns the matching parts of two versions: those with the same renaming identifier first,
    /// then those with the same name.
    static func pairs<Part>(
        _ old: [Part],
        _ new: [Part],
        _ name: (Part) -> String,
        _ identifier: (Part) -> String?
    ) -> [(old: Part?, new: Part?)] {
        var byIdentifier: [String: Int] = [:]
        var byName: [String: Int] = [:]
        for (place, part) in old.enumerated() {
            byIdentifier[identifier(part) ?? name(part)] = place
            byName[name(part)] = place
        }
        var taken: Set<Int> = []
        var former = [Int?](repeating: nil, count: new.count)
        for (place, part) in new.enumerated() {
            if let found = byIdentifier[identifier(part) ?? name(part)],
                taken.insert(found).inserted
            {
                former[place] = found
            }
        }
        for (place, part) in new.enumerated() where former[place] == nil {
            if let found = byName[name(part)], taken.insert(found).inserted {
                former[place] = found
            }
        }
        return zip(new, former).map { part, former in (former.map { old[$0] }, part) }
            + old.indices.filter { !taken.contains($0) }.map { (old[$0], nil) }
    }

    // MARK: Configurations

    /// Compares the configurations in which entities of both versions are.
    private func memberships() -> [CoreDataModelChange] {
        let names = Set((old.configurations + new.configurations).map(\.name)).sorted()
        return names.flatMap { name -> [CoreDataModelChange] in
            let before = Set(old.configuration(named: name)?.entities ?? [])
            let after = Set(new.configuration(named: name)?.entities ?? [])
            return formerNames.compactMap { entity, former in
                guard before.contains(former) != after.contains(entity) else { return nil }
                return after.contains(entity)
                    ? Self.change(.changed, entity, "is in the configuration \(name) now")
                    : Self.change(
                        .changed,
                        entity,
                        "is no longer in the configuration \(name)",
                        mapping: "a store of the configuration loses its objects"
                    )
            }
        }
    }

    // MARK: Entities

    private func differences(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        let name = after.name
        var changes: [CoreDataModelChange] = []
        if before.name != name {
            let isRoot = before.parent == nil && after.parent == nil
            changes.append(
                Self.change(
                    .renamed,
                    name,
                    "was \(before.name)",
                    cloud: isRoot
                        ? "a new record type CD_\(name); the records of CD_\(before.name) stay behind"
                        : "records keep \(before.name) in CD_entityName until they are saved"
                )
            )
        }
        changes += inheritance(before, after)
        if before.isAbstract != after.isAbstract {
            changes.append(
                Self.change(
                    .changed,
                    name,
                    after.isAbstract ? "is abstract now" : "is no longer abstract",
                    mapping: after.isAbstract ? "objects of the entity cannot stay" : nil
                )
            )
        }
        if Set(before.uniquenessConstraints) != Set(after.uniquenessConstraints) {
            let isMore = !Set(after.uniquenessConstraints)
                .isSubset(of: Set(before.uniquenessConstraints))
            changes.append(
                Self.change(
                    .changed,
                    name,
                    "uniqueness constraints differ",
                    cloud: isMore ? "no constraint is allowed" : nil
                )
            )
        }
        if before.fetchIndexes != after.fetchIndexes
            || before.compoundIndexes != after.compoundIndexes
        {
            changes.append(Self.change(.changed, name, "indexes differ"))
        }
        if before.versionHashModifier != after.versionHashModifier {
            changes.append(Self.change(.changed, name, "the version hash modifier differs"))
        }
        return changes + properties(before, after)
    }

    /// Compares the parents of an entity.
    private func inheritance(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        let formerParent = after.parent.flatMap { formerNames[$0] ?? $0 }
        guard before.parent != formerParent else { return [] }
        let (oldRoot, newRoot) = (old.root(of: before).name, new.root(of: after).name)
        // Two hierarchies cannot be merged, because their objects have the same keys.
        let isMerged = new.hierarchy(below: new.root(of: after)).contains { other in
            guard let former = formerNames[other.name].flatMap({ old.entity(named: $0) }) else {
                return false
            }
            return old.root(of: former).name != oldRoot
        }
        let types = (formerNames[newRoot] ?? newRoot) == oldRoot
        return [
            Self.change(
                .changed,
                after.name,
                "parent: \(before.parent ?? "none") → \(after.parent ?? "none")",
                mapping: isMerged ? "entities of two hierarchies come into one" : nil,
                cloud: types
                    ? nil
                    : "the record type is CD_\(newRoot) instead of CD_\(oldRoot), whose records stay "
                        + "behind"
            )
        ]
    }
}
