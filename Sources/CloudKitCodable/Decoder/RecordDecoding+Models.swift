import CloudKit

// Models within a model: values of other records.
extension RecordDecoding {
    /// Returns the model that a field refers to.
    func model<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard let graph, let modelType = type as? any Decodable.Type else {
            throw missing(field)
        }
        try noteChildren((type as? any CloudKitModel.Type)?.recordType, field)
        guard let target = try target(field, type) else {
            if let data = object(field) as? Data, let type = type as? any Decodable.Type,
                let value = try decodeJSON(type, data, field) as? Value
            {
                return value
            }
            throw hasValue(field)
                ? mismatch(CKRecord.Reference.self, object(field), field) : missing(field)
        }
        let place = location.appending(field.key)
        do {
            guard let value = try graph.value(modelType, for: target, at: place) as? Value else {
                throw graph.missing(modelType, target, place)
            }
            return value
        } catch let signal as GraphNeeds.Signal {
            learn(type, field)
            throw signal
        }
    }

    /// Remembers that a property leads to models: other records of this type fetch them early.
    private func learn(_ type: Any.Type, _ field: RecordField) {
        guard let model, let target = KnownProperty.model(in: type) else { return }
        TypeTraits.of(model).memory.learn(field.key.stringValue, target, field.options, of: model)
    }

    /// Returns the model that a field refers to; nil when its record is missing.
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

    /// Returns the value behind a reference, or the values behind a list of them, whatever their
    /// type; nil when the field holds none.
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

    /// Returns the models that a field refers to, or that refer to this record.
    func models<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard let graph, let list = type as? any DecodableModelList.Type else {
            throw missing(field)
        }
        if let data = object(field) as? Data, let type = type as? any Decodable.Type,
            let value = try decodeJSON(type, data, field) as? Value
        {
            return value
        }
        try noteChildren(list.modelType.recordType, field)
        do {
            let models = try list.models(
                try targets(field, list.modelType),
                of: graph,
                at: location.appending(field.key)
            )
            guard let value = models as? Value else { throw mismatch(type, object(field), field) }
            return value
        } catch let signal as GraphNeeds.Signal {
            learn(type, field)
            throw signal
        }
    }

    /// Returns the models that refer to this record; nil when there are none.
    func childrenIfPresent<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordField
    ) throws -> Value? {
        guard graph != nil else { return try value(type, field) }
        switch FieldKind.of(type) {
        case .model:
            return try target(field, type) == nil ? nil : try model(type, field)
        case .modelList:
            guard let list = type as? any ModelList.Type else { return nil }
            return try targets(field, list.modelType).isEmpty ? nil : try models(type, field)
        default: return isNil(field) ? nil : try value(type, field)
        }
    }

    /// Notes the owner of the models that refer to this record; two properties cannot share them.
    private func noteChildren(_ type: CKRecord.RecordType?, _ field: RecordField) throws {
        guard let type, case .children(let via, _, _)? = field.options?.relation,
            let problem = childOwners.note(type, via, field.key.stringValue)
        else { return }
        throw corrupted(field, problem)
    }

    /// Returns the children of this record under a property.
    private func children(
        _ type: any CloudKitModel.Type,
        via name: String,
        _ field: RecordField
    ) throws -> [CKRecord.ID] {
        // Later encodings of children must know that the field belongs to the owner.
        learn(type, field)
        return try graph?.children(of: record.recordID, type, via: name) ?? []
    }

    private func target(_ field: RecordField, _ type: Any.Type) throws -> CKRecord.ID? {
        if case .children(let name, _, _)? = field.options?.relation {
            guard let type = KnownProperty.model(in: type) else { return nil }
            return try children(type, via: name, field).first
        }
        return (object(field) as? CKRecord.Reference)?.recordID
    }

    private func targets(
        _ field: RecordField,
        _ modelType: any CloudKitModel.Type
    ) throws -> [CKRecord.ID] {
        if case .children(let name, _, _)? = field.options?.relation {
            return try children(modelType, via: name, field)
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
