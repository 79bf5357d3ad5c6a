import CloudKitWire

/// A field that a query names.
struct QueryField: Hashable {
    /// The name as written in errors and schemas.
    let name: String
    /// The system field; nil for one of the type's own fields.
    let system: SystemField?
    /// The field in the schema.
    let schema: FieldSchema
    /// The fields whose words are searched together; empty for a single field.
    private(set) var searched: [String] = []

    /// Finds a field by the names in a filter or a sort.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` when there is no such field or it has no index.
    init(
        _ fieldName: String?,
        system systemName: String?,
        in type: RecordTypeSchema,
        _ typeName: String,
        for use: String
    ) throws(RequestError) {
        guard let name = systemName ?? fieldName else {
            throw RequestError(.badRequest, reason: "A \(use) names no field")
        }
        if systemName == nil, let schema = type.fields[name], SystemField(name: name) == nil {
            self.init(name: name, system: nil, schema: schema)
            return
        }
        guard let system = SystemField(name: name) else {
            throw RequestError(.badRequest, reason: "Field '\(name)' not found in \(typeName)")
        }
        if systemName == nil, let own = type.fields[name], name != system.schemaName {
            self.init(name: name, system: nil, schema: own)
            return
        }
        let schema =
            type[system]
            ?? FieldSchema(FieldType(system.type), indexes: [], number: 0)
        self.init(name: name, system: system, schema: schema)
    }

    /// Creates the combination of all searchable fields of a type, for a filter on words that names
    /// no field.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` when no field is searchable.
    init(wordsOf type: RecordTypeSchema, _ typeName: String) throws(RequestError) {
        searched = type.fields.filter { $0.value.indexes.contains(.searchable) }.keys.sorted()
        guard !searched.isEmpty else {
            throw RequestError(
                .badRequest,
                reason: "No field of \(typeName) is marked searchable; mark one SEARCHABLE in the "
                    + "schema"
            )
        }
        name = "self"
        system = nil
        schema = FieldSchema(FieldType(.string), indexes: .searchable, number: 0)
    }

    private init(name: String, system: SystemField?, schema: FieldSchema) {
        self.name = name
        self.system = system
        self.schema = schema
    }

    /// Returns the field's value in a record, with references in their normalized form.
    func value(
        in record: StoredRecord,
        _ fields: RecordFields,
        _ home: ReferenceHome
    ) -> WireValue? {
        if !searched.isEmpty {
            .list(searched.compactMap { fields.fields[$0]?.value }, of: .string)
        } else if let system {
            record.value(of: system)
        } else {
            (fields.fields[name]?.value).map(home.normalized)
        }
    }

    /// The number of the index on values; record names use the index of all records.
    var valueIndex: Int64 {
        system == .recordName
            ? RecordTypeSchema(number: schema.number).nameIndex : schema.valueIndex
    }

    /// `true` when the field refers to users, who are in no zone of the database.
    var namesUsers: Bool {
        system == .createdUserRecordName || system == .modifiedUserRecordName
    }

    /// Returns the error for a field that lacks an index, with the line of schema that would add
    /// it, if there is one.
    func lacks(_ index: FieldSchema.Indexes) -> RequestError {
        let (adjective, keyword) =
            switch index {
            case .sortable: ("sortable", "SORTABLE")
            case .searchable: ("searchable", "SEARCHABLE")
            default: ("queryable", "QUERYABLE")
            }
        guard FieldSchema.everyIndex(for: schema.type).contains(index) else {
            return RequestError(
                .badRequest,
                reason:
                    "Field '\(name)' is not marked \(adjective), and no schema can mark it: it has a "
                    + "value type of \(schema.type.tag)"
                    + (schema.type.isList && index == .sortable
                        ? ", and lists have no order; sort by a field with one value" : "")
            )
        }
        let quoted = system.map { "\"\($0.schemaName)\"" } ?? name
        return RequestError(
            .badRequest,
            reason: "Field '\(name)' is not marked \(adjective); this line in the schema would "
                + "allow it: \(quoted) \(schema.type.schemaText) \(keyword)"
        )
    }
}
