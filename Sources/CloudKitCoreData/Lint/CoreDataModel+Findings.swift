extension CoreDataModel {
    /// Returns the parts of the model that CloudKit forbids, and those that lose data.
    ///
    /// - Parameter mirroring: The app's use of the model.
    /// - Returns: The findings, by entity and property, of all severities.
    /// - Throws: ``CoreDataModelError`` for a configuration that is not in the model.
    public func findings(
        _ mirroring: CoreDataMirroring = CoreDataMirroring()
    ) throws(CoreDataModelError) -> [CoreDataFinding] {
        var lint = ModelLint(model: self, mirroring: mirroring)
        return try lint.run()
    }
}

/// The check of a model's entities.
struct ModelLint {
    let model: CoreDataModel
    let mirroring: CoreDataMirroring
    private var found: [CoreDataFinding] = []

    init(model: CoreDataModel, mirroring: CoreDataMirroring) {
        self.model = model
        self.mirroring = mirroring
    }

    mutating func run() throws(CoreDataModelError) -> [CoreDataFinding] {
        for entity in try model.entities(ofConfiguration: mirroring.configuration) {
            check(entity)
            for attribute in entity.attributes { check(attribute, of: entity) }
            for relationship in entity.relationships { check(relationship, of: entity) }
        }
        for conflict in try MirroredSchema(model, mirroring).conflicts {
            let parts = conflict.second.place.split(separator: ".", maxSplits: 1)
            add(
                .error,
                .fieldConflict,
                String(parts.first ?? ""),
                parts.count > 1 ? String(parts[1]) : nil,
                conflict.message,
                remedy: "rename one of the properties"
            )
        }
        return found.sorted {
            ($0.entity, $0.property ?? "", $0.rule.rawValue)
                < ($1.entity, $1.property ?? "", $1.rule.rawValue)
        }
    }

    mutating func add(
        _ severity: CoreDataFinding.Severity,
        _ rule: CoreDataFinding.Rule,
        _ entity: String,
        _ property: String?,
        _ message: String,
        remedy: String
    ) {
        found.append(
            CoreDataFinding(
                severity: severity,
                rule: rule,
                entity: entity,
                property: property,
                message: message,
                remedy: remedy
            )
        )
    }

    // MARK: Entities

    private mutating func check(_ entity: CoreDataModel.Entity) {
        let name = entity.name
        for constraint in entity.uniquenessConstraints {
            add(
                .error,
                .uniquenessConstraint,
                name,
                nil,
                "\(constraint.joined(separator: ", ")) must be unique, which CloudKit cannot keep",
                remedy: "remove the constraint, and let the app find and merge duplicates"
            )
        }
        if !entity.isSyncable {
            add(
                .warning,
                .syncableFlag,
                name,
                nil,
                "syncable is NO, which excludes nothing from CloudKit",
                remedy:
                    "put the entity into a configuration of its own, with a store without CloudKit"
            )
        }
        if CoreDataModel.UserInfoKey.isSet(
            CoreDataModel.UserInfoKey.encrypted,
            in: entity.userInfo
        ) {
            add(
                .error,
                .encryptedProperty,
                name,
                nil,
                "the key for encryption in userInfo is for attributes",
                remedy: "allow encryption for each attribute instead"
            )
        }
        if !MirroredField.isName(name) {
            add(.error, .fieldName, name, nil, Self.badName, remedy: "rename the entity")
        }
        checkSize(entity)
    }

    private static let badName =
        "names in CloudKit have letters from A to Z, digits and underscores, 255 at most"

    /// Checks the size of numbers and dates, which cannot move to an asset, as text and bytes can.
    private mutating func checkSize(_ entity: CoreDataModel.Entity) {
        let fixed = model.attributes(of: entity).count {
            $0.isMirrored && MirroredField.fields(of: $0, in: entity.name).count == 1
        }
        guard fixed * 8 > 700_000 else { return }
        add(
            .error,
            .recordSize,
            entity.name,
            nil,
            "its \(fixed) numbers and dates take more than the 700,000 bytes of a record",
            remedy: "split the entity in two"
        )
    }

    // MARK: Attributes

    private mutating func check(
        _ attribute: CoreDataModel.Attribute,
        of entity: CoreDataModel.Entity
    ) {
        let (entity, name) = (entity.name, attribute.name)
        if attribute.isIgnoredByCloudKit, !attribute.isOptional {
            add(
                .error,
                .ignoredProperty,
                entity,
                name,
                "it is excluded from CloudKit and required, so other devices cannot save the object",
                remedy: "make it optional"
            )
        }
        checkEncryption(attribute, entity)
        guard attribute.isMirrored else { return }
        checkType(attribute, entity)
        if !attribute.isOptional, attribute.defaultValue == nil {
            add(
                .error,
                .missingDefault,
                entity,
                name,
                "it is required and has no default value, which a record without the field needs",
                remedy: "make it optional, or give it a default value"
            )
        }
        if !MirroredField.isName(name) {
            add(.error, .fieldName, entity, name, Self.badName, remedy: "rename the attribute")
        }
        if !attribute.isSyncable {
            add(
                .warning,
                .syncableFlag,
                entity,
                name,
                "syncable is NO, which excludes nothing from CloudKit",
                remedy:
                    "set \(CoreDataModel.UserInfoKey.ignored) to YES in the attribute's userInfo"
            )
        }
    }

    private mutating func checkEncryption(
        _ attribute: CoreDataModel.Attribute,
        _ entity: String
    ) {
        let hasKey = CoreDataModel.UserInfoKey.isSet(
            CoreDataModel.UserInfoKey.encrypted,
            in: attribute.userInfo
        )
        if hasKey, attribute.allowsCloudEncryption {
            add(
                .error,
                .encryptedProperty,
                entity,
                attribute.name,
                "it requests encryption by the flag and by the previous key in userInfo",
                remedy: "remove the key"
            )
        }
        if mirroring.database == .public, attribute.isMirrored, attribute.isEncryptedInCloudKit {
            add(
                .error,
                .encryptedInPublic,
                entity,
                attribute.name,
                "it is encrypted, and the public database has no encrypted fields",
                remedy: "switch encryption off, or mirror the entity to the private database"
            )
        }
    }

    private mutating func checkType(_ attribute: CoreDataModel.Attribute, _ entity: String) {
        let name = attribute.name
        switch attribute.type {
        case .undefined, .objectID, .other:
            add(
                .error,
                .attributeType,
                entity,
                name,
                "values of type \(attribute.type.name) have no field in CloudKit",
                remedy: "choose another type, or make the attribute transient"
            )
        case .decimal:
            add(
                .warning,
                .decimalDigits,
                entity,
                name,
                "CloudKit keeps 15 to 17 digits of a decimal number",
                remedy: "keep the smallest unit, such as cents, in an Integer 64 where that matters"
            )
        case .binary where !attribute.allowsExternalStorage:
            add(
                .warning,
                .largeBytes,
                entity,
                name,
                "large bytes stay in the database, and are written again with each change beside them",
                remedy: "allow external storage"
            )
        case .transformable:
            guard let transformer = attribute.valueTransformerName,
                !transformer.hasPrefix("NSSecureUnarchiveFromData"),
                !transformer.hasPrefix("NSKeyedUnarchiveFromData")
            else { return }
            add(
                .warning,
                .transformer,
                entity,
                name,
                "\(transformer) must turn values into bytes and back",
                remedy: "register it before the store is loaded"
            )
        default: break
        }
    }
}
