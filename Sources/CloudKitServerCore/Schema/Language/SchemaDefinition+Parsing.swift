import CloudKitSchemaLanguage
import CloudKitWire

// The semantics of a schema's text; the parser handles the grammar.
extension SchemaDefinition {
    /// Reads a complete text.
    ///
    /// - Throws: `SchemaSyntaxError` with the position of the first mistake.
    static func parse(_ text: String) throws(SchemaSyntaxError) -> SchemaDefinition {
        do throws(SchemaParsingError) {
            var definition = SchemaDefinition()
            var parser = try SchemaParser(text)
            while let statement = try parser.next() {
                switch statement {
                case .role(let name): try definition.add(role: name)
                case .recordType(let type): try definition.add(type)
                }
            }
            return definition
        } catch {
            throw SchemaSyntaxError(
                line: error.line,
                column: error.column,
                message: error.message
            )
        }
    }

    private mutating func add(role: SchemaWord) throws(SchemaParsingError) {
        guard roles.insert(role.text).inserted else {
            throw SchemaParsingError("The role \(role.text) is defined twice", at: role)
        }
    }

    private mutating func add(_ statement: SchemaRecordType) throws(SchemaParsingError) {
        let name = statement.name
        guard types[name.text] == nil else {
            throw SchemaParsingError("The record type \(name.text) is defined twice", at: name)
        }
        var type = RecordType()
        for member in statement.members {
            switch member {
            case .field(let field): try type.add(field)
            case .grant(let grant): try add(grant, to: &type)
            }
        }
        types[name.text] = type
    }

    private func add(_ grant: SchemaGrant, to type: inout RecordType) throws(SchemaParsingError) {
        let role = grant.role
        let builtIn = ["_world", "_icloud", "_creator"]
        guard builtIn.contains(role.text) || roles.contains(role.text) else {
            throw SchemaParsingError(
                "There is no role \(role.text); CREATE ROLE \(role.text); creates it",
                at: role
            )
        }
        for permission in grant.permissions {
            type.grants = type.grants ?? [:]
            type.grants?[role.text, default: []].insert(RecordTypeSchema.Grant(permission))
        }
    }
}

extension SchemaDefinition.RecordType {
    fileprivate mutating func add(_ statement: SchemaField) throws(SchemaParsingError) {
        let name = statement.name
        guard fields[name.text] == nil else {
            throw SchemaParsingError("The field \(name.text) is defined twice", at: name)
        }
        let system = SystemField(name: name.text)
        if name.text.first == "_", system == nil, name.text != "___etag" {
            throw SchemaParsingError("There is no system field \(name.text)", at: name)
        }
        let field = try SchemaDefinition.Field(statement)
        if name.text == "___etag" { return }
        if let system, system.schemaName == name.text, field.type.scalar != system.type {
            throw SchemaParsingError("\(name.text) is a \(system.type.rawValue)", at: name)
        }
        fields[name.text] = field
    }
}

extension SchemaDefinition.Field {
    fileprivate init(_ statement: SchemaField) throws(SchemaParsingError) {
        let scalar = try Self.scalar(statement)
        if statement.isEncrypted, scalar == .reference || scalar == .asset {
            let type = statement.type
            throw SchemaParsingError("\(type.text) cannot be encrypted", at: type)
        }
        self.init(
            type: statement.isList ? FieldType(listOf: scalar) : FieldType(scalar),
            isEncrypted: statement.isEncrypted
        )
        let possible = FieldSchema.everyIndex(for: type)
        for index in statement.indexes {
            indexes.insert(FieldSchema.Indexes(index.kind))
            guard !isEncrypted, possible.isSuperset(of: indexes) else {
                throw SchemaParsingError(
                    "A field of type \(type.schemaText) cannot be \(index.word.text)",
                    at: index.word
                )
            }
        }
    }

    /// Returns the type of the value; a number without a preference holds any number.
    private static func scalar(
        _ statement: SchemaField
    )
        throws(SchemaParsingError) -> FieldType.Scalar
    {
        let word = statement.type.text.uppercased()
        if word == "NUMBER" { return statement.preference == .int64 ? .int64 : .double }
        if word == "ASSET" { return .asset }
        // The wire format has another name for assets.
        guard let scalar = FieldType.Scalar(rawValue: word), scalar != .asset else {
            throw SchemaParsingError("There is no type \(statement.type.text)", at: statement.type)
        }
        return scalar
    }
}

extension FieldSchema.Indexes {
    fileprivate init(_ kind: SchemaField.Index.Kind) {
        switch kind {
        case .queryable: self = .queryable
        case .sortable: self = .sortable
        case .searchable: self = .searchable
        }
    }
}

extension RecordTypeSchema.Grant {
    fileprivate init(_ permission: SchemaGrant.Permission) {
        switch permission {
        case .read: self = .read
        case .create: self = .create
        case .write: self = .write
        }
    }
}

/// A syntax error in a schema.
public struct SchemaSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the text, counted from 1.
    public var line: Int
    /// The column of the line, counted from 1.
    public var column: Int
    /// A description of the expected and the found text.
    public var message: String

    /// The position and the message.
    public var description: String { "line \(line), column \(column): \(message)" }
}
