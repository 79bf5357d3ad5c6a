import CloudKitSchemaLanguage

extension CloudKitSchema {
    /// Parses a schema in CloudKit's schema language.
    ///
    /// - Throws: ``CloudKitSchemaError`` with the line and column of the first error.
    public init(parsing text: String) throws {
        try self.init(parsing: text, keepsSystemFields: false)
    }

    /// Parses a schema in CloudKit's schema language, with the system fields if requested.
    package init(parsing text: String, keepsSystemFields: Bool) throws {
        recordTypes = []
        do {
            var parser = try SchemaParser(text)
            while let statement = try parser.next() {
                guard case .recordType(let type) = statement else { continue }
                recordTypes.append(RecordType(type, keepsSystemFields: keepsSystemFields))
            }
        } catch {
            throw CloudKitSchemaError(error.description)
        }
    }
}

extension CloudKitSchema.RecordType {
    fileprivate init(_ statement: SchemaRecordType, keepsSystemFields: Bool) {
        self.init(name: statement.name.text, fields: [])
        for member in statement.members {
            // Grants are managed in the console.
            guard case .field(let field) = member else { continue }
            // The system fields are the same everywhere.
            guard keepsSystemFields || !field.name.text.hasPrefix("_") else { continue }
            fields.append(CloudKitSchema.Field(field))
        }
    }
}

extension CloudKitSchema.Field {
    fileprivate init(_ statement: SchemaField) {
        let scalar = statement.type.text.uppercased()
        let type = statement.isList ? "LIST<\(scalar)>" : scalar
        let preference = statement.preference.map { ["PREFERRED", "AS", $0.rawValue] } ?? []
        self.init(
            name: statement.name.text,
            type: statement.isEncrypted ? "ENCRYPTED " + type : type,
            // A number's preference is written in the place of the indexes.
            indexes: preference + statement.indexes.map(\.kind.rawValue)
        )
    }
}
