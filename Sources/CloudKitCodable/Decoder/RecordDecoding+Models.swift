import CloudKit

// Models within a model: values of other records.
extension RecordDecoding {
    /// The model that a field refers to.
    func model<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard let graph, let modelType = type as? any Decodable.Type else {
            throw missing(field)
        }
        guard let target = try target(field) else {
            if let data = object(field) as? Data, let type = type as? any Decodable.Type,
                let value = try decodeJSON(type, data, field) as? Value
            {
                return value
            }
            throw hasValue(field)
                ? mismatch(CKRecord.Reference.self, object(field), field) : missing(field)
        }
        let place = location.appending(field.key)
        guard let value = try graph.value(modelType, for: target, at: place) as? Value else {
            throw graph.missing(modelType, target, place)
        }
        return value
    }

    /// The model that a field refers to; nil when its record is not there.
    func modelIfPresent<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value? {
        do {
            return try model(type, field)
        } catch let error as CloudKitGraphError
            where error.code == .missingRecord
            && error.codingPath.count == location.path.count + 1
        {
            return nil
        }
    }

    /// The value behind a reference, or the values behind a list of them, whatever their type; nil
    /// when the field holds none.
    func referred<Value: Decodable>(_ type: Value.Type, _ field: RecordField) throws -> Value? {
        guard let graph, graph.followsReferences else { return nil }
        let object = object(field)
        if object is CKRecord.Reference, FieldKind.of(type) == .other {
            return try model(type, field)
        }
        guard let list = type as? any DecodableList.Type, let objects = object as? [Any],
            !objects.isEmpty, objects.allSatisfy({ $0 is CKRecord.Reference })
        else { return nil }
        var values: [Any] = []
        for (index, object) in objects.enumerated() {
            guard let target = (object as? CKRecord.Reference)?.recordID else { continue }
            let place = location.appending(field.key).appending(index: index)
            guard let value = try graph.value(list.elementType, for: target, at: place) else {
                throw graph.missing(list.elementType, target, place)
            }
            values.append(value)
        }
        return list.list(of: values) as? Value
    }

    /// The models that a field refers to, or that refer to this record.
    func models<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard let graph, let list = type as? any ModelList.Type else { throw missing(field) }
        if let data = object(field) as? Data, let type = type as? any Decodable.Type,
            let value = try decodeJSON(type, data, field) as? Value
        {
            return value
        }
        let models = try list.models(
            try targets(field, list.modelType),
            of: graph,
            at: location.appending(field.key)
        )
        guard let value = models as? Value else { throw mismatch(type, object(field), field) }
        return value
    }

    private func target(_ field: RecordField) throws -> CKRecord.ID? {
        if case .children(let name, _, _)? = field.options?.relation {
            return graph?.children(of: record.recordID, via: name).first?.recordID
        }
        return (object(field) as? CKRecord.Reference)?.recordID
    }

    private func targets(
        _ field: RecordField,
        _ modelType: any CloudKitModel.Type
    ) throws -> [CKRecord.ID] {
        if case .children(let name, _, _)? = field.options?.relation {
            return (graph?.children(of: record.recordID, via: name) ?? [])
                .filter { $0.recordType == modelType.recordType }
                .map(\.recordID)
        }
        guard let object = object(field) else { throw missing(field) }
        guard let list = object as? [Any] else {
            throw mismatch([CKRecord.Reference].self, object, field)
        }
        return try list.map { element in
            guard let reference = element as? CKRecord.Reference else {
                throw mismatch([CKRecord.Reference].self, object, field)
            }
            return reference.recordID
        }
    }
}
