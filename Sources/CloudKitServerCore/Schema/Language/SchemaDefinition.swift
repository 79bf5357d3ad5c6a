import CloudKitSchemaLanguage
import CloudKitWire

/// The contents of a schema text, independent of an environment.
struct SchemaDefinition: Hashable, Sendable {
    /// A field in the text.
    struct Field: Hashable, Sendable {
        var type: FieldType
        var isEncrypted = false
        var indexes: FieldSchema.Indexes = []
    }

    /// A record type in the text.
    struct RecordType: Hashable, Sendable {
        var fields: [String: Field] = [:]
        /// The permissions of each role; nil if the text does not have any.
        var grants: [String: RecordTypeSchema.Grant]?
    }

    var types: [String: RecordType] = [:]
    var roles: Set<String> = []
}

extension SchemaDefinition {
    /// Creates the definition of an environment's schema.
    init(_ schema: Schema) {
        roles = schema.roles
        types = schema.types.mapValues { type in
            RecordType(
                fields: type.fields.mapValues {
                    Field(type: $0.type, isEncrypted: $0.isEncrypted, indexes: $0.indexes)
                },
                grants: type.grants
            )
        }
    }

    /// The text, in an order that depends only on the contents.
    var text: String {
        var text = "DEFINE SCHEMA\n"
        for role in roles.sorted() { text += "\nCREATE ROLE \(SchemaName.text(role));\n" }
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            text += "\nRECORD TYPE \(SchemaName.text(name)) (\n"
            var lines = Self.systemLines(type)
            for (name, field) in type.fields.sorted(by: { $0.key < $1.key })
            where SystemField(name: name)?.schemaName != name {
                lines.append(Self.line(name, field))
            }
            for (role, grant) in (type.grants ?? [:]).sorted(by: { $0.key < $1.key })
            where !grant.isEmpty {
                lines.append("GRANT \(grant.text) TO \(SchemaName.text(role))")
            }
            text += lines.map { "    " + $0 }.joined(separator: ",\n") + "\n);\n"
        }
        return text
    }

    /// Returns the fields that every type has, as Apple's tools write them.
    private static func systemLines(_ type: RecordType) -> [String] {
        let fields: [SystemField] = [
            .createdTimestamp, .createdUserRecordName, .modifiedTimestamp,
            .modifiedUserRecordName, .recordName,
        ]
        return fields.map { field in
            let known = type.fields[field.schemaName] ?? Field(type: FieldType(field.type))
            return line(field.schemaName, known)
        }
    }

    static func line(_ name: String, _ field: Field) -> String {
        var words = [
            SchemaName.text(name), (field.isEncrypted ? "ENCRYPTED " : "") + field.type.schemaText,
        ]
        if field.indexes.contains(.queryable) { words.append("QUERYABLE") }
        if field.indexes.contains(.sortable) { words.append("SORTABLE") }
        if field.indexes.contains(.searchable) { words.append("SEARCHABLE") }
        return words.joined(separator: " ")
    }
}

extension RecordTypeSchema.Grant {
    /// The permissions as written in the schema language.
    fileprivate var text: String {
        [(Self.read, "READ"), (.create, "CREATE"), (.write, "WRITE")]
            .filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
