import CloudKit

/// Collects the record types of models, from their declarations and from samples.
struct SchemaBuilder {
    /// A field, and how its type is known.
    private struct Field {
        var type: String?
        var isFound = false
        var indexes: [String] = []
        /// The type of the property, for a message.
        var property: Any.Type

        /// `true` when no property has the field, because it refers to an owner.
        var isOwners: Bool { property == Void.self }
    }

    private var order: [String] = []
    private var fields: [String: [(name: String, field: Field)]] = [:]
    private var complete: Set<String> = []
    private var empty: [(model: any CloudKitModel.Type, place: String)] = []

    // MARK: Samples

    /// Adds the record types of a sample and of the models in it.
    mutating func add(sample: any CloudKitModel) throws {
        let folder = AssetFolder(isRemovedWithObject: true)
        let graph = GraphEncoding(zoneID: .default, userInfo: [:], known: [], assets: folder)
        _ = try graph.encodeRoot(GraphNode(sample))
        // The outer ones first, in reading order.
        let entries = graph.records.compactMap { graph.entries[$0.recordID] }
            .map { (entry: $0, depth: $0.location.path.count) }
            .enumerated().sorted { ($0.element.depth, $0.offset) < ($1.element.depth, $1.offset) }
        for (_, (entry, _)) in entries {
            guard let model = TypeTraits.of(type(of: entry.value)).model else { continue }
            try add(model, entry.value, entry.record)
        }
    }

    private mutating func add(
        _ model: any CloudKitModel.Type,
        _ value: any Encodable,
        _ record: CKRecord
    ) throws {
        begin(model)
        complete.insert(model.recordType)
        let page = PropertyListing.Page()
        try value.encode(to: PropertyListing(page: page))
        try add(page.properties + (DeclaredProperties.of(model) ?? []), of: model)
        let found: [(String, (any CKRecordValue)?, String)] =
            record.allKeys().map { ($0, record.object(forKey: $0), "") }
            + record.encryptedValues.allKeys().map {
                ($0, record.encryptedValues.object(forKey: $0), "ENCRYPTED ")
            }
        for (name, object, prefix) in found {
            guard let object, let type = FieldTypeName.of(object) else { continue }
            try set(name, prefix + type, of: model)
        }
    }

    /// Sets the type of a field that a sample has.
    private mutating func set(
        _ name: String,
        _ type: String,
        of model: any CloudKitModel.Type
    ) throws {
        let recordType = model.recordType
        guard let index = fields[recordType]?.firstIndex(where: { $0.name == name }) else {
            // A field that no property has belongs to an owner.
            add(name, Field(type: type, isFound: true, property: Void.self), to: recordType)
            return
        }
        let old = fields[recordType]?[index].field
        if old?.isFound == true, let former = old?.type, former != type {
            throw CloudKitSchemaError(
                """
                \(recordType).\(name) is \(former) in one sample and \(type) in another: a field has \
                one type
                """
            )
        }
        fields[recordType]?[index].field.type = type
        fields[recordType]?[index].field.isFound = true
    }

    // MARK: Declarations

    /// Adds the record type of a model that declares the types of its properties.
    mutating func add(_ model: any CloudKitModel.Type) throws {
        guard complete.insert(model.recordType).inserted else { return }
        guard let properties = DeclaredProperties.of(model) else {
            throw CloudKitSchemaError(
                """
                \(model) does not declare the types of its properties: describe a sample of it with \
                CloudKitSchema(describing:), make it a @CloudKitRecord, or name the types in fields, \
                with .of(String.self)
                """
            )
        }
        begin(model)
        try add(properties, of: model)
    }

    private mutating func begin(_ model: any CloudKitModel.Type) {
        let recordType = model.recordType
        if fields[recordType] == nil {
            order.append(recordType)
            fields[recordType] = []
        }
    }

    private mutating func add(
        _ properties: [KnownProperty],
        of model: any CloudKitModel.Type
    ) throws {
        let options = model.fields.byKey
        for property in properties {
            let option = options[property.key]
            for (name, type) in Self.fields(of: property, option) {
                add(name, Field(type: type, property: property.type), to: model.recordType)
            }
            guard let target = KnownProperty.model(in: property.type),
                let relation = ModelRelation(property.key, target, option)
            else { continue }
            empty.append((target, "\(model.recordType).\(property.key)"))
            if relation.isChildren { addOwner(relation.field, to: target) }
        }
    }

    private mutating func add(_ name: String, _ field: Field, to recordType: String) {
        guard let index = fields[recordType]?.firstIndex(where: { $0.name == name }) else {
            fields[recordType, default: []].append((name, field))
            return
        }
        // A later sample, or a declaration, may know the type.
        if fields[recordType]?[index].field.type == nil {
            fields[recordType]?[index].field.type = field.type
        }
        if !field.indexes.isEmpty { fields[recordType]?[index].field.indexes = field.indexes }
    }

    /// Adds the fields of a child that refer to its owner.
    private mutating func addOwner(_ field: String, to model: any CloudKitModel.Type) {
        begin(model)
        let reference = Field(type: "REFERENCE", indexes: ["QUERYABLE"], property: Void.self)
        add(field, reference, to: model.recordType)
        let position = Field(type: "INT64", property: Void.self)
        add(field + RecordField.positionSuffix, position, to: model.recordType)
    }

    private static func fields(
        of property: KnownProperty,
        _ options: CloudKitField?
    ) -> [(name: String, type: String?)] {
        if case .children? = options?.relation { return [] }
        if property.key == _CKSystemFieldsKeyName { return [] }
        let name = options?.name ?? property.key
        switch options?.storage {
        case .recordName?, .ignored?: return []
        case .json?: return [(name, "BYTES")]
        case .asset(let size)?:
            let asset = (size < 0 ? name : name + RecordField.assetSuffix, "ASSET")
            return size < 0 ? [asset] : [(name, "BYTES"), asset]
        case .encrypted?:
            return [(name, FieldTypeName.of(property.type).map { "ENCRYPTED " + $0 })]
        case nil, .automatic?: return [(name, FieldTypeName.of(property.type))]
        }
    }

    // MARK: Ending

    /// Returns the record types, if they are completely known.
    mutating func finish() throws -> [CloudKitSchema.RecordType] {
        var problems: [String] = []
        var next = 0
        // Declarations may add more types.
        while next < empty.count {
            let (model, place) = empty[next]
            next += 1
            do {
                try add(model)
            } catch let error as CloudKitSchemaError {
                problems.append("\(place) has no \(model) in any sample. " + error.description)
            }
        }
        for recordType in order {
            for (name, field) in fields[recordType] ?? [] where field.type == nil {
                problems.append(
                    """
                    \(recordType).\(name): the form of a \(field.property) is known only from a \
                    value, and no sample has one; describe a sample with one, or use .json for the key \
                    in fields
                    """
                )
            }
        }
        guard problems.isEmpty else { throw CloudKitSchemaError(problems.joined(separator: "\n")) }
        return order.map { recordType in
            let all = fields[recordType] ?? []
            // The owners' fields follow the type's own.
            let sorted = all.filter { !$0.field.isOwners } + all.filter(\.field.isOwners)
            return CloudKitSchema.RecordType(
                name: recordType,
                fields: sorted.map { name, field in
                    CloudKitSchema.Field(name: name, type: field.type ?? "", indexes: field.indexes)
                }
            )
        }
    }
}
