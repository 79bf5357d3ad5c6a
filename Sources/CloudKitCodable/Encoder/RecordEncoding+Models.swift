import CloudKit

// Models within a model: records of their own in a graph, JSON where there is none.
extension RecordEncoding {
    /// Stores a value in another API's form and returns `true`; returns `false` when that API has
    /// none for it.
    func store(
        _ value: some Encodable,
        _ field: RecordField,
        as dialect: any GraphDialect
    ) throws -> Bool {
        if let node = dialect.node(for: value) {
            try storeNode(node, field)
        } else if let list = value as? any EncodableList, dialect.isNode(list.elementType) {
            try storeNodes(list.elements.compactMap(dialect.node), field)
        } else if let object = try dialect.form(of: value) {
            try storeObject(object, field)
        } else {
            return false
        }
        return true
    }

    /// Stores a model.
    func storeModel<Value: Encodable>(_ value: Value, _ field: RecordField) throws {
        guard graph != nil, let model = value as? any CloudKitModel else {
            return try storeInside(value, field)
        }
        noteList(of: type(of: model), field)
        try storeNode(node(of: model, readAs: Value.self), field)
    }

    /// Returns the node of a model at a location of a type: the model's own, or a superclass.
    private func node(of model: some CloudKitModel, readAs type: Any.Type) -> GraphNode {
        guard Swift.type(of: model) != type, let declared = TypeTraits.of(type).model else {
            return GraphNode(model)
        }
        return GraphNode(model, readAs: declared)
    }

    /// Stores a list of models.
    func storeModels(_ value: some Encodable, _ field: RecordField) throws {
        guard let list = value as? any EncodableModelList else {
            return try storeJSON(of: value, field)
        }
        // Without a graph, an empty list is stored as it is in one.
        guard graph != nil || model != nil && list.nodes.isEmpty else {
            return try storeInside(value, field)
        }
        noteList(of: type(of: list).modelType, field)
        if case .children(let via, _, _)? = field.options?.relation {
            try noteChildren(type(of: list).modelType, via, field.key)
        }
        try storeNodes(list.nodes, field)
    }

    /// Stores models in the record of a value, where there is no graph.
    ///
    /// A field's type can never change: a reference in a graph must not be JSON here.
    private func storeInside(_ value: some Encodable, _ field: RecordField) throws {
        guard let model else { return try storeJSON(of: value, field) }
        throw error(
            value,
            field.key,
            "\(type(of: value)) needs records of its own: save the \(model) as a graph, with "
                + "CloudKitGraphEncoder or save(_:in:), or use .json for the key in fields"
        )
    }

    /// Notes the list of records of a type that refer to this one: other known records are released.
    private func noteList(of type: any CloudKitModel.Type, _ field: RecordField) {
        guard case .children(let via, _, _)? = field.options?.relation, let model else { return }
        noteChildren(field)
        let key = field.key.stringValue
        TypeTraits.of(model).memory.learn(key, type, field.options, of: model)
        graph?.noteList(of: record.recordID, type.recordType, via: via)
    }

    /// Notes that models of a type refer to this record for a property; two such lists would be
    /// decoded as one.
    func noteChildren(_ type: Any.Type, _ via: String, _ key: some CodingKey) throws {
        let model = (type as? any ModelList.Type)?.modelType ?? (type as? any CloudKitModel.Type)
        guard graph != nil, let model else { return }
        let problem = childOwners.note(model.recordType, via, key.stringValue)
        if let problem { throw error(key.stringValue, key, problem) }
    }

    private func storeNode(_ node: GraphNode, _ field: RecordField) throws {
        if case .children(let via, _, _)? = field.options?.relation {
            try noteChildren(type(of: node.value), via, field.key)
            return addChild(node, field, position: nil, at: location.appending(field.key))
        }
        let place = location.appending(field.key)
        guard let recordID = try target(node, field, at: place) else { return }
        try storeObject(CKRecord.Reference(recordID: recordID, action: action(field)), field)
    }

    private func storeNodes(_ nodes: [GraphNode], _ field: RecordField) throws {
        let list = location.appending(field.key)
        if case .children? = field.options?.relation {
            for (position, node) in nodes.enumerated() {
                addChild(node, field, position: position, at: list.appending(index: position))
            }
            return
        }
        let action = action(field)
        var references: [CKRecord.Reference] = []
        references.reserveCapacity(nodes.count)
        for (index, node) in nodes.enumerated() {
            let place = list.appending(index: index)
            guard let recordID = try target(node, field, at: place) else { continue }
            references.append(CKRecord.Reference(recordID: recordID, action: action))
        }
        if baseline == .values || field.options?.storage == .encrypted {
            try storeObject(NSArray(array: references), field)
        } else {
            try check(field.name, field.key)
            record[field.name] = references
        }
    }

    private func action(_ field: RecordField) -> CKRecord.ReferenceAction {
        if case .reference(let action, _)? = field.options?.relation { return action }
        return graph?.dialect?.referenceAction ?? .none
    }

    /// Returns the record of a node that this record refers to.
    private func target(
        _ node: GraphNode,
        _ field: RecordField,
        at place: CodingLocation
    ) throws -> CKRecord.ID? {
        let recordID = try graph?.encode(node, at: place)
        if case .reference(_, isHierarchy: true)? = field.options?.relation {
            graph?.addChild(
                node,
                owner: record.recordID,
                relation: nil,
                position: nil,
                at: place
            )
        }
        return recordID
    }

    private func addChild(
        _ node: GraphNode,
        _ field: RecordField,
        position: Int?,
        at place: CodingLocation
    ) {
        graph?.addChild(
            node,
            owner: record.recordID,
            relation: field.options?.relation,
            position: position,
            at: place
        )
    }
}
