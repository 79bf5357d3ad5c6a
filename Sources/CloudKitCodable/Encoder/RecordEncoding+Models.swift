import CloudKit

// Models within a model: records of their own in a graph, JSON where there is none.
extension RecordEncoding {
    /// Stores a model.
    func storeModel(_ value: some Encodable, _ field: RecordField) throws {
        guard let graph, let model = value as? any CloudKitModel else {
            return try storeJSON(of: value, field)
        }
        if case .children? = field.options?.relation {
            return addChild(model, field, position: nil, to: graph)
        }
        let recordID = try target(model, field, index: nil, in: graph)
        try storeObject(CKRecord.Reference(recordID: recordID, action: action(field)), field)
    }

    /// Stores a list of models.
    func storeModels(_ value: some Encodable, _ field: RecordField) throws {
        guard let graph, let list = value as? any ModelList else {
            return try storeJSON(of: value, field)
        }
        if case .children? = field.options?.relation {
            for (position, model) in list.models.enumerated() {
                addChild(model, field, position: position, to: graph)
            }
            return
        }
        let action = action(field)
        var references: [CKRecord.Reference] = []
        for (index, model) in list.models.enumerated() {
            let recordID = try target(model, field, index: index, in: graph)
            references.append(CKRecord.Reference(recordID: recordID, action: action))
        }
        try storeObject(NSArray(array: references), field)
    }

    private func action(_ field: RecordField) -> CKRecord.ReferenceAction {
        if case .reference(let action, _)? = field.options?.relation { action } else { .none }
    }

    /// The record of a model that this record refers to.
    private func target(
        _ model: any CloudKitModel,
        _ field: RecordField,
        index: Int?,
        in graph: GraphEncoding
    ) throws -> CKRecord.ID {
        let place = place(field, index)
        let recordID = try graph.encode(model, at: place)
        if case .reference(_, isHierarchy: true)? = field.options?.relation {
            graph.addChild(
                model,
                owner: record.recordID,
                relation: nil,
                position: nil,
                at: place
            )
        }
        return recordID
    }

    private func addChild(
        _ model: any CloudKitModel,
        _ field: RecordField,
        position: Int?,
        to graph: GraphEncoding
    ) {
        graph.addChild(
            model,
            owner: record.recordID,
            relation: field.options?.relation,
            position: position,
            at: place(field, position)
        )
    }

    private func place(_ field: RecordField, _ index: Int?) -> CodingLocation {
        index.map { location.appending(field.key, index: $0) } ?? location.appending(field.key)
    }
}
