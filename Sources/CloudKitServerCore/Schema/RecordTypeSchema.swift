import CloudKitWire

/// What a schema says of one record type.
struct RecordTypeSchema: Hashable, Sendable, Codable {
    /// The number under which every record of the type stands in the index table by its name,
    /// whether or not clients may ask for that.
    let number: Int64
    /// The fields by name; system fields under their schema names, such as `___createTime`.
    var fields: [String: FieldSchema] = [:]
    /// What each role may do with records of the type in the public database.
    var grants: [String: Grant] = Self.defaultGrants

    init(number: Int64) {
        self.number = number
    }

    /// The index that holds every record of the type.
    var nameIndex: Int64 { number * 2 }

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

    /// The fields that have an index on their values or words, by name; the records' names have
    /// theirs anyway.
    var indexedFields: [(name: String, field: FieldSchema)] {
        fields.filter { !$0.value.indexes.isEmpty && $0.value.number != number }
            .sorted { $0.key < $1.key }
            .map { (name: $0.key, field: $0.value) }
    }
}
