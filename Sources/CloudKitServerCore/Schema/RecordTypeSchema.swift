import CloudKitWire

/// A record type of a schema.
struct RecordTypeSchema: Hashable, Sendable, Codable {
    /// The number of the type's index of names, which contains every record of the type even if
    /// clients may not query by name.
    let number: Int64
    /// The fields by name; system fields under their schema names, such as `___createTime`.
    var fields: [String: FieldSchema] = [:]
    /// The permissions of each role for records of the type in the public database.
    var grants: [String: Grant] = Self.defaultGrants

    init(number: Int64) {
        self.number = number
    }

    /// The index that contains every record of the type.
    var nameIndex: Int64 { number * 2 }

    /// The permissions of a role.
    struct Grant: OptionSet, Hashable, Sendable, Codable {
        let rawValue: Int

        static let read = Self(rawValue: 1)
        static let create = Self(rawValue: 2)
        static let write = Self(rawValue: 4)
    }

    /// Anyone may read, users may create, creators may change ("Security roles" of a new type).
    static let defaultGrants: [String: Grant] = [
        "_world": .read, "_icloud": [.read, .create], "_creator": [.read, .create, .write],
    ]

    /// The schema of a system field.
    subscript(system: SystemField) -> FieldSchema? { fields[system.schemaName] }

    /// The fields that have an index on their values or words, by name; the index of record names
    /// always exists.
    var indexedFields: [(name: String, field: FieldSchema)] {
        fields.lazy.filter { !$0.value.indexes.isEmpty && $0.value.number != number }
            .map { (name: $0.key, field: $0.value) }
            .sorted { $0.name < $1.name }
    }
}
