import CloudKitWire

/// What a schema says of one record type.
struct RecordTypeSchema: Hashable, Sendable, Codable {
    /// The fields by name; system fields under their schema names, such as `___createTime`.
    var fields: [String: FieldSchema] = [:]
    /// What each role may do with records of the type in the public database.
    var grants: [String: Grant] = Self.defaultGrants

    /// What a role may do.
    struct Grant: OptionSet, Hashable, Sendable, Codable {
        let rawValue: Int

        static let read = Self(rawValue: 1)
        static let create = Self(rawValue: 2)
        static let write = Self(rawValue: 4)
    }

    /// Anyone reads, users create, creators change ("Security roles" of a new type).
    static let defaultGrants: [String: Grant] = [
        "_world": .read, "_icloud": [.read, .create], "_creator": [.read, .create, .write],
    ]

    /// What is known of a system field.
    subscript(system: SystemField) -> FieldSchema? { fields[system.schemaName] }

    /// The fields that have an index on their values or words, by name.
    var indexedFields: [(name: String, field: FieldSchema)] {
        fields.filter { !$0.value.indexes.isEmpty }.sorted { $0.key < $1.key }
            .map { (name: $0.key, field: $0.value) }
    }
}
