import CloudKit

/// The properties that a model declares with their types, by its macro or in its `fields`.
enum DeclaredProperties {
    /// Returns the properties in the order of the declaration; nil when the model declares no types.
    static func of(_ model: any CloudKitModel.Type) -> [KnownProperty]? {
        var list = CloudKitPropertyList()
        if let mapped = model as? any CloudKitMappedModel.Type, mapped.mappedType == model {
            mapped.listProperties(in: &list)
            if !list.properties.isEmpty { return list.properties }
        }
        let named = model.fields.entries.compactMap { key, field in
            field.type.map { KnownProperty(key, $0.type) }
        }
        return named.isEmpty ? nil : named
    }
}
