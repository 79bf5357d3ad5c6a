import CloudKitWire

/// The record types of a schema in structured form; the schema language is meant for people.
public struct SchemaOutline: Hashable, Sendable, Encodable {
    /// A field of a type.
    public struct Field: Hashable, Sendable, Encodable {
        /// The field's name, or that of a system field, such as `___createTime`.
        public var name: String
        /// The type as responses name it, such as `STRING_LIST`.
        public var type: String
        /// A Boolean value that indicates whether the field's values are encrypted.
        public var isEncrypted: Bool
        /// The field's indexes as the schema language names them, such as `QUERYABLE`.
        public var indexes: [String]
    }

    /// A record type.
    public struct RecordType: Hashable, Sendable, Encodable {
        /// The type's name.
        public var name: String
        /// The fields by name, including system fields that have an index.
        public var fields: [Field]
    }

    /// The types by name.
    public var recordTypes: [RecordType]

    init(_ schema: Schema) {
        recordTypes = schema.types.sorted { $0.key < $1.key }.map { name, type in
            RecordType(
                name: name,
                fields: type.fields.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
            )
        }
    }
}

extension SchemaOutline.Field {
    init(_ name: String, _ field: FieldSchema) {
        self.init(
            name: name,
            type: field.type.tag,
            isEncrypted: field.isEncrypted,
            indexes: Self.names.filter { field.indexes.contains($0.index) }.map(\.name)
        )
    }

    private static let names: [(index: FieldSchema.Indexes, name: String)] = [
        (.queryable, "QUERYABLE"), (.sortable, "SORTABLE"), (.searchable, "SEARCHABLE"),
    ]
}
