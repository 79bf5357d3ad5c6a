extension CloudKitSchema {
    /// The record types that models need, and those of the models in them.
    ///
    /// It is found from the types alone, by asking them what they decode.
    ///
    /// - Throws: ``CloudKitSchemaError`` for a type that cannot be asked without a value.
    public init(of types: any CloudKitModel.Type...) throws {
        var builder = SchemaBuilder()
        for type in types { try builder.add(type) }
        recordTypes = builder.recordTypes
    }

    /// The record types of sample values, and those of the models in them.
    ///
    /// For types that cannot be asked without a value: an enumeration with associated values, say,
    /// that must be there. Give a sample of each such type; optional properties may be nil.
    ///
    /// - Throws: ``CloudKitSchemaError``, or what `encode(to:)` throws.
    public init(samples: any CloudKitModel...) throws {
        var builder = SchemaBuilder()
        for sample in samples {
            builder.shapes[type(of: sample).recordType] = try ModelShape(sample: sample)
        }
        for sample in samples { try builder.add(type(of: sample)) }
        recordTypes = builder.recordTypes
    }
}

/// Gathers the record types of models.
private struct SchemaBuilder {
    private(set) var recordTypes: [CloudKitSchema.RecordType] = []

    /// The shapes of types of which there is a sample.
    var shapes: [String: ModelShape] = [:]

    mutating func add(_ type: any CloudKitModel.Type) throws {
        guard !recordTypes.contains(where: { $0.name == type.recordType }) else { return }
        let shape = shapes[type.recordType] ?? ModelShape.of(type)
        guard shape.isComplete else {
            let last = shape.properties.last?.key ?? "the first property"
            throw CloudKitSchemaError(
                """
                \(type) cannot be decoded without a value: the type of \(last) has no placeholder. \
                An enumeration has one when it is CaseIterable; else make the schema of a sample
                """
            )
        }
        let index = recordTypes.count
        recordTypes.append(CloudKitSchema.RecordType(name: type.recordType, fields: []))
        for property in shape.properties {
            recordTypes[index].fields += Self.fields(of: property)
            guard let model = property.model else { continue }
            try add(model)
            if case .children(let field, _, _)? = property.options?.relation {
                try addOwner(field, to: model.recordType)
            }
        }
    }

    /// The fields of a child that refer to its owner.
    private mutating func addOwner(_ field: String, to recordType: String) throws {
        guard let index = recordTypes.firstIndex(where: { $0.name == recordType }),
            !recordTypes[index].fields.contains(where: { $0.name == field })
        else { return }
        recordTypes[index].fields += [
            CloudKitSchema.Field(name: field, type: "REFERENCE", indexes: ["QUERYABLE"]),
            CloudKitSchema.Field(name: field + GraphEncoding.positionSuffix, type: "INT64"),
        ]
    }

    private static func fields(of property: ModelShape.Property) -> [CloudKitSchema.Field] {
        if case .children? = property.options?.relation { return [] }
        if property.key == _CKSystemFieldsKeyName { return [] }
        let name = property.field
        switch property.options?.storage {
        case .recordName?, .ignored?: return []
        case .json?: return [CloudKitSchema.Field(name: name, type: "BYTES")]
        case .asset(let size)?:
            let asset = CloudKitSchema.Field(
                name: size < 0 ? name : name + RecordEncoding.assetSuffix,
                type: "ASSET"
            )
            return size < 0 ? [asset] : [CloudKitSchema.Field(name: name, type: "BYTES"), asset]
        case .encrypted?:
            let type = "ENCRYPTED " + FieldTypeName.of(property.type)
            return [CloudKitSchema.Field(name: name, type: type)]
        case nil, .automatic?:
            return [CloudKitSchema.Field(name: name, type: FieldTypeName.of(property.type))]
        }
    }
}
