extension ModelLint {
    mutating func check(
        _ relationship: CoreDataModel.Relationship,
        of entity: CoreDataModel.Entity
    ) {
        let (place, name) = (entity.name, relationship.name)
        if CoreDataModel.UserInfoKey.isSet(
            CoreDataModel.UserInfoKey.ignored,
            in: relationship.userInfo
        ) {
            add(
                .error,
                .ignoredProperty,
                place,
                name,
                "a relationship cannot be excluded from CloudKit",
                remedy: "remove \(CoreDataModel.UserInfoKey.ignored) from its userInfo"
            )
        }
        if CoreDataModel.UserInfoKey.isSet(
            CoreDataModel.UserInfoKey.encrypted,
            in: relationship.userInfo
        ) {
            add(
                .error,
                .encryptedProperty,
                place,
                name,
                "a relationship cannot be encrypted",
                remedy: "remove the key for encryption from its userInfo"
            )
        }
        guard !relationship.isTransient else { return }
        checkShape(relationship, place)
        checkRule(relationship, place)
        checkConfigurations(relationship, entity)
        if !MirroredField.isName(name) {
            add(
                .error,
                .fieldName,
                place,
                name,
                "names in CloudKit have letters from A to Z, digits and underscores, 255 at most",
                remedy: "rename the relationship"
            )
        }
    }

    private mutating func checkShape(
        _ relationship: CoreDataModel.Relationship,
        _ entity: String
    ) {
        let name = relationship.name
        if !relationship.isOptional {
            add(
                .error,
                .requiredRelationship,
                entity,
                name,
                "it is required, and its target may arrive later than the object",
                remedy: "make it optional"
            )
        }
        if relationship.inverseName == nil {
            add(
                .error,
                .missingInverse,
                entity,
                name,
                "it has no inverse",
                remedy:
                    "add a relationship to \(relationship.destination) that leads back to \(entity)"
            )
        }
        if relationship.isOrdered {
            add(
                .error,
                .orderedRelationship,
                entity,
                name,
                "it is ordered, which CloudKit does not keep",
                remedy:
                    "make it unordered, and give \(relationship.destination) an attribute with the position"
            )
        }
        if model.isManyToMany(relationship) {
            add(
                .warning,
                .manyToMany,
                entity,
                name,
                "each link is a separate record, and duplicates of links can arise",
                remedy: "no action is required; an entity for the link is an alternative"
            )
        }
    }

    private mutating func checkRule(
        _ relationship: CoreDataModel.Relationship,
        _ entity: String
    ) {
        switch relationship.deleteRule {
        case .deny:
            add(
                .error,
                .denyRule,
                entity,
                relationship.name,
                "its delete rule is Deny, which a deletion from another device cannot follow",
                remedy: "choose Nullify or Cascade"
            )
        case .noAction:
            add(
                .warning,
                .noActionRule,
                entity,
                relationship.name,
                "its delete rule is No Action, so links to deleted objects stay",
                remedy: "choose Nullify or Cascade"
            )
        case .nullify, .cascade: break
        }
    }

    private mutating func checkConfigurations(
        _ relationship: CoreDataModel.Relationship,
        _ entity: CoreDataModel.Entity
    ) {
        let homes = model.configurations.filter { configuration in
            if let only = mirroring.configuration, configuration.name != only { return false }
            return configuration.entities.contains(entity.name)
        }
        for home in homes where !home.entities.contains(relationship.destination) {
            add(
                .error,
                .otherConfiguration,
                entity.name,
                relationship.name,
                "it leads from configuration \(home.name) to \(relationship.destination), which is "
                    + "not in it: links between stores do not exist",
                remedy:
                    "add \(relationship.destination) to \(home.name), or keep its identifier in an attribute"
            )
        }
    }
}
