import CloudKitCodable

extension CoreDataModel {
    /// Compares a deployed schema with the requirements of the model.
    ///
    /// The comparison covers record types, fields and field types. Indexes are compared for the
    /// public database only: in the private one Core Data fetches changes, and needs none.
    ///
    /// - Parameters:
    ///   - text: The schema in CloudKit's schema language, as exported by CloudKit Console.
    ///   - mirroring: The app's use of the model.
    /// - Returns: The missing, wrong and unused parts, by record type and field.
    /// - Throws: `CloudKitSchemaError` for a text that is not a schema, and ``CoreDataModelError``
    ///   for a model that no schema fits.
    public func schemaDifferences(
        deployed text: String,
        _ mirroring: CoreDataMirroring = CoreDataMirroring()
    ) throws -> [CoreDataSchemaDifference] {
        let deployed = try CloudKitSchema(parsing: text, keepsSystemFields: true)
        // Checked first, because no schema fits such a model.
        _ = try CloudKitSchema(mirroring: self, mirroring)
        return try SchemaComparison(MirroredSchema(self, mirroring), deployed, mirroring)
            .differences()
    }
}

/// The comparison of a model's required types with the deployed ones.
private struct SchemaComparison {
    private let needed: MirroredSchema
    private let deployed: [String: [String: CloudKitSchema.Field]]
    private let mirroring: CoreDataMirroring

    init(
        _ needed: MirroredSchema,
        _ deployed: CloudKitSchema,
        _ mirroring: CoreDataMirroring
    ) {
        self.needed = needed
        self.mirroring = mirroring
        self.deployed = deployed.recordTypes.reduce(into: [:]) { types, type in
            types[type.name] = type.fields.reduce(into: [:]) { $0[$1.name] = $1 }
        }
    }

    func differences() -> [CoreDataSchemaDifference] {
        var found: [CoreDataSchemaDifference] = []
        for name in Set(needed.types.keys).union(deployed.keys).sorted() {
            switch (needed.types[name], deployed[name]) {
            case (let type?, nil): found += missing(type)
            case (let type?, let fields?): found += differences(type, fields)
            case (nil, .some): found += unused(name)
            case (nil, nil): break
            }
        }
        return found
    }

    // MARK: Types

    private func missing(_ type: MirroredSchema.RecordType) -> [CoreDataSchemaDifference] {
        let message: String
        switch type.name {
        // CloudKit has it, whether or not a file lists it.
        case MirroredSchema.usersType: return []
        case MirroredSchema.shareType:
            message = """
                missing: sharing fails in production; add RECORD TYPE "cloudkit.share", with the \
                quotation marks, or save a share in development and deploy
                """
        case MirroredSchema.linkType:
            message = "missing: no many-to-many relationship syncs; add the record type and deploy"
        default:
            message =
                "missing: no object of \(type.entities.joined(separator: ", ")) syncs; add the record "
                + "type and deploy"
        }
        return [
            CoreDataSchemaDifference(
                kind: .missingType,
                severity: .error,
                recordType: type.name,
                field: nil,
                place: type.entities.joined(separator: ", "),
                message: message
            )
        ]
    }

    private func unused(_ name: String) -> [CoreDataSchemaDifference] {
        // Types with other names are the app's own.
        guard name.hasPrefix("CD_") || name == MirroredSchema.linkType else { return [] }
        return [
            CoreDataSchemaDifference(
                kind: .unusedType,
                severity: .note,
                recordType: name,
                field: nil,
                place: "",
                message: "not used by this model; an older version of the app may need it"
            )
        ]
    }

    // MARK: Fields

    private func differences(
        _ type: MirroredSchema.RecordType,
        _ fields: [String: CloudKitSchema.Field]
    ) -> [CoreDataSchemaDifference] {
        var found: [CoreDataSchemaDifference] = []
        for field in type.sortedFields {
            if field.role == .system, field.neededIndexes.isEmpty { continue }
            if let deployed = fields[field.name] {
                found += difference(type.name, field, deployed)
            } else if field.role != .sharing || mirroring.isShared {
                found.append(missing(type.name, field))
            }
        }
        guard type.name.hasPrefix("CD") else { return found }
        for name in fields.keys.sorted() where type.fields[name] == nil && !name.hasPrefix("_") {
            found.append(
                CoreDataSchemaDifference(
                    kind: .unusedField,
                    severity: .note,
                    recordType: type.name,
                    field: name,
                    place: "",
                    message: "not used by this model; an older version of the app may need it"
                )
            )
        }
        return found
    }

    private func missing(
        _ type: String,
        _ field: MirroredField
    ) -> CoreDataSchemaDifference {
        let indexes = field.neededIndexes.map { " " + $0 }.joined()
        // Names with points are in quotation marks.
        let text = field.role == .share ? "\"\(field.name)\" \(field.type)" : field.text
        let consequence =
            switch field.role {
            case .fixed: "no record of the type syncs"
            case .sharing where field.type == "ASSET":
                "a large receipt, never seen so far, is not saved"
            case .sharing: "sharing fails in production"
            case .companion: "an object with a large value does not sync"
            case .relationship: "an object with a link does not sync"
            case .attribute: "an object with a value does not sync"
            case .share: "a share with it is not saved in production"
            case .system: "the public database cannot be queried"
            }
        return CoreDataSchemaDifference(
            kind: field.role == .system ? .missingIndex : .missingField,
            // A receipt is small; its asset was never observed in use.
            severity: field.role == .sharing && field.type == "ASSET" ? .warning : .error,
            recordType: type,
            field: field.name,
            place: field.place,
            message: "missing: \(consequence); add \(text)\(indexes) and deploy"
        )
    }

    private func difference(
        _ type: String,
        _ field: MirroredField,
        _ deployed: CloudKitSchema.Field
    ) -> [CoreDataSchemaDifference] {
        guard deployed.accepts(field.type) else {
            return [
                CoreDataSchemaDifference(
                    kind: .wrongType,
                    severity: .error,
                    recordType: type,
                    field: field.name,
                    place: field.place,
                    message: "is \(deployed.type), where \(field.type) must be: "
                        + Self.remedy(field, deployed.type)
                )
            ]
        }
        return field.neededIndexes.filter { !deployed.indexes.contains($0) }.map { index in
            CoreDataSchemaDifference(
                kind: .missingIndex,
                severity: .error,
                recordType: type,
                field: field.name,
                place: field.place,
                message: "has no \(index) index: the public database cannot be queried; add it and "
                    + "deploy"
            )
        }
    }

    private static func remedy(_ field: MirroredField, _ deployed: String) -> String {
        if field.role == .relationship, deployed == "REFERENCE" {
            return
                "Core Data keeps the name of the other record as text, and every save fails; delete "
                + "the field in development, or rename the relationship once it is in production"
        }
        return
            "every save of a value fails; production keeps the type, so rename the property, which "
            + "makes a new field"
    }
}

extension CloudKitSchema.Field {
    /// Returns whether values of a type fit.
    ///
    /// A NUMBER field may name its preferred type; otherwise either numeric type fits.
    fileprivate func accepts(_ needed: String) -> Bool {
        guard type == "NUMBER" else { return type == needed }
        let preferred = indexes.firstIndex(of: "AS").flatMap {
            indexes.indices.contains($0 + 1) ? indexes[$0 + 1] : nil
        }
        return preferred.map { $0 == needed } ?? ["INT64", "DOUBLE"].contains(needed)
    }
}
