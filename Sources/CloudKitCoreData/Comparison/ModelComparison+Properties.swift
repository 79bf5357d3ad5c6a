extension ModelComparison {
    func properties(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        attributes(before, after) + relationships(before, after) + fetched(before, after)
    }

    private func fetched(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        before.fetchedProperties == after.fetchedProperties
            ? [] : [Self.change(.changed, after.name, "fetched properties differ")]
    }

    // MARK: Attributes

    private func attributes(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        let pairs = Self.pairs(
            before.attributes,
            after.attributes,
            \.name,
            \.renamingIdentifier
        )
        return pairs.flatMap { pair -> [CoreDataModelChange] in
            switch (pair.old, pair.new) {
            case (nil, let attribute?): return added(attribute, before, after)
            case (let attribute?, nil):
                // A property that moved up in its hierarchy still exists.
                let stays = new.attributes(of: after).contains { $0.name == attribute.name }
                return stays ? [] : [removed(attribute.name, after.name, attribute.isMirrored)]
            case (let former?, let attribute?):
                return differences(former, attribute, after.name)
            case (nil, nil): return []
            }
        }
    }

    private func added(
        _ attribute: CoreDataModel.Attribute,
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        if let former = old.attributes(of: before).first(where: { $0.name == attribute.name }) {
            return differences(former, attribute, after.name)
        }
        return [added(attribute, after.name)]
    }

    private func added(
        _ attribute: CoreDataModel.Attribute,
        _ entity: String
    ) -> CoreDataModelChange {
        let needsValue =
            !attribute.isOptional && attribute.defaultValue == nil && !attribute.isTransient
        return Self.change(
            .added,
            entity,
            "a new attribute, \(attribute.type.name)",
            of: attribute.name,
            mapping: needsValue ? "it is required and has no default value" : nil,
            cloud: attribute.isMirrored
                ? "a new field CD_\(attribute.name), which production must get first" : nil
        )
    }

    private func removed(
        _ property: String,
        _ entity: String,
        _ hasField: Bool
    ) -> CoreDataModelChange {
        Self.change(
            .removed,
            entity,
            "the property was removed",
            of: property,
            cloud: hasField ? "the field CD_\(property) and its values stay" : nil
        )
    }

    private func differences(
        _ before: CoreDataModel.Attribute,
        _ after: CoreDataModel.Attribute,
        _ entity: String
    ) -> [CoreDataModelChange] {
        var changes: [CoreDataModelChange] = []
        func add(
            _ text: String,
            kind: CoreDataModelChange.Kind = .changed,
            mapping: String? = nil,
            cloud: String? = nil
        ) {
            let cloud = after.isMirrored ? cloud : nil
            changes.append(
                Self.change(kind, entity, text, of: after.name, mapping: mapping, cloud: cloud)
            )
        }
        if before.name != after.name {
            add(
                "was \(before.name)",
                kind: .renamed,
                cloud:
                    "a new field CD_\(after.name); values stay in CD_\(before.name), which older "
                    + "versions of the app go on writing"
            )
        }
        let types = "type: \(before.type.name) → \(after.type.name)"
        if before.type != after.type || before.compositeName != after.compositeName {
            add(types, mapping: "values are not converted", cloud: retyping(before, after))
        }
        if before.isOptional != after.isOptional {
            let needsValue = !after.isOptional && after.defaultValue == nil
            add(
                after.isOptional ? "is optional now" : "is required now",
                mapping: needsValue ? "it has no default value" : nil,
                cloud: needsValue ? "a required attribute needs a default value" : nil
            )
        }
        if before.isEncryptedInCloudKit != after.isEncryptedInCloudKit {
            add(
                after.isEncryptedInCloudKit ? "is encrypted now" : "is no longer encrypted",
                cloud: "a field that was deployed keeps its encryption; rename the attribute"
            )
        }
        if before.isTransient != after.isTransient {
            add(after.isTransient ? "is transient now" : "is stored now")
        } else if before.isMirrored != after.isMirrored {
            add(after.isMirrored ? "is mirrored now" : "is no longer mirrored")
        }
        if before.defaultValue != after.defaultValue { add("the default value differs") }
        if before.valueTransformerName != after.valueTransformerName {
            add(
                "transformer: \(before.valueTransformerName ?? "none") → "
                    + (after.valueTransformerName ?? "none"),
                mapping: "stored bytes may be of another form"
            )
        }
        if before.derivationExpression != after.derivationExpression {
            add("the derivation differs")
        }
        if before.allowsExternalStorage != after.allowsExternalStorage {
            add(after.allowsExternalStorage ? "may be stored in files" : "is not stored in files")
        }
        if before.versionHashModifier != after.versionHashModifier {
            add("the version hash modifier differs")
        }
        return changes + parts(before, after, entity)
    }

    /// Compares the parts of a composite, which are one field in CloudKit.
    private func parts(
        _ before: CoreDataModel.Attribute,
        _ after: CoreDataModel.Attribute,
        _ entity: String
    ) -> [CoreDataModelChange] {
        guard before.type == .composite, after.type == .composite,
            let name = after.compositeName, name == before.compositeName,
            let former = old.composite(named: name), let composite = new.composite(named: name)
        else { return [] }
        let pairs = Self.pairs(
            former.attributes,
            composite.attributes,
            \.name,
            \.renamingIdentifier
        )
        return pairs.flatMap { pair -> [CoreDataModelChange] in
            let former = pair.old.map { $0.part(of: before) }
            let part = pair.new.map { $0.part(of: after) }
            switch (former, part) {
            case (nil, let part?): return [added(part, entity)]
            case (let former?, nil): return [removed(former.name, entity, false)]
            case (let former?, let part?): return differences(former, part, entity)
            case (nil, nil): return []
            }
        }
        .map { change in
            var change = change
            change.cloudEffect =
                after.isMirrored
                ? "CD_\(after.name) is one field, whose bytes get another form" : nil
            return change
        }
    }

    /// Returns the effect of a change of type on the field.
    private func retyping(
        _ before: CoreDataModel.Attribute,
        _ after: CoreDataModel.Attribute
    ) -> String? {
        let old = MirroredField.fields(of: before, in: "").first?.type
        let new = MirroredField.fields(of: after, in: "").first?.type
        guard let old, let new, old != new, before.name == after.name else { return nil }
        return "CD_\(after.name) is \(old) and cannot become \(new); rename the attribute"
    }

    // MARK: Relationships

    private func relationships(
        _ before: CoreDataModel.Entity,
        _ after: CoreDataModel.Entity
    ) -> [CoreDataModelChange] {
        Self.pairs(before.relationships, after.relationships, \.name, \.renamingIdentifier)
            .flatMap { pair -> [CoreDataModelChange] in
                switch (pair.old, pair.new) {
                case (nil, let relationship?):
                    let former = old.relationships(of: before)
                        .first { $0.name == relationship.name }
                    if let former { return differences(former, relationship, after.name) }
                    return [
                        Self.change(
                            .added,
                            after.name,
                            "a new relationship to \(relationship.destination)",
                            of: relationship.name,
                            mapping: relationship.minimumCount > 0 && !relationship.isOptional
                                ? "it is required" : nil,
                            cloud: relationship.isToMany
                                ? nil
                                : "a new field CD_\(relationship.name), which production must get "
                                    + "first"
                        )
                    ]
                case (let relationship?, nil):
                    let stays = new.relationships(of: after)
                        .contains { $0.name == relationship.name }
                    return stays
                        ? [] : [removed(relationship.name, after.name, !relationship.isToMany)]
                case (let former?, let relationship?):
                    return differences(former, relationship, after.name)
                case (nil, nil): return []
                }
            }
    }

    private func differences(
        _ before: CoreDataModel.Relationship,
        _ after: CoreDataModel.Relationship,
        _ entity: String
    ) -> [CoreDataModelChange] {
        var changes: [CoreDataModelChange] = []
        func add(
            _ text: String,
            kind: CoreDataModelChange.Kind = .changed,
            mapping: String? = nil,
            cloud: String? = nil
        ) {
            changes.append(
                Self.change(kind, entity, text, of: after.name, mapping: mapping, cloud: cloud)
            )
        }
        if before.name != after.name {
            add(
                "was \(before.name)",
                kind: .renamed,
                cloud: after.isToMany
                    ? (new.isManyToMany(after) ? "links under the old name are not read" : nil)
                    : "a new field CD_\(after.name); links stay in CD_\(before.name)"
            )
        }
        if before.isToMany != after.isToMany {
            add(
                after.isToMany ? "leads to several now" : "leads to one now",
                mapping: after.isToMany ? nil : "it is not known which of several stays",
                cloud: "links are kept in another place; those that were synced are not read"
            )
        }
        if before.isOrdered != after.isOrdered {
            add(
                after.isOrdered ? "is ordered now" : "is no longer ordered",
                cloud: after.isOrdered ? "no ordered relationship is allowed" : nil
            )
        }
        let destination = formerNames[after.destination] ?? after.destination
        if before.destination != destination {
            add("destination: \(before.destination) → \(after.destination)", mapping: otherTarget)
        }
        if before.isOptional != after.isOptional {
            add(
                after.isOptional ? "is optional now" : "is required now",
                cloud: after.isOptional ? nil : "every relationship must be optional"
            )
        }
        if before.deleteRule != after.deleteRule {
            add("delete rule: \(before.deleteRule.name) → \(after.deleteRule.name)")
        }
        if before.minimumCount != after.minimumCount || before.maximumCount != after.maximumCount,
            before.isToMany == after.isToMany
        {
            add("the allowed numbers of objects differ")
        }
        if (before.inverseName == nil) != (after.inverseName == nil) {
            add(after.inverseName == nil ? "has no inverse now" : "has an inverse now")
        }
        return changes
    }

    private var otherTarget: String { "existing links lead to other entities" }
}

extension CoreDataModel.Attribute {
    /// Returns the attribute as a part of a composite one, such as `home.city`.
    fileprivate func part(of composite: Self) -> Self {
        var part = self
        part.name = "\(composite.name).\(name)"
        return part
    }
}
