import CloudKitSchemaLanguage
public import Foundation

/// The record types of a container: those that models need, or those in a schema file.
///
/// ```swift
/// let needed = try CloudKitSchema(of: Atlas.self)
/// print(needed.text)                  // for the console's import, or `cktool import-schema`
///
/// let deployed = try CloudKitSchema(parsing: String(contentsOf: file, encoding: .utf8))
/// for difference in needed.differences(from: deployed) { print(difference) }
/// ```
public struct CloudKitSchema: Sendable, Equatable {
    /// A field of a record type.
    public struct Field: Sendable, Equatable {
        /// The field's name.
        public var name: String

        /// CloudKit's type, for example `STRING`, `LIST<REFERENCE>` or `ENCRYPTED INT64`.
        public var type: String

        /// The indexes, for example `QUERYABLE`, `SORTABLE` or `SEARCHABLE`.
        public var indexes: [String] = []

        /// Creates a field.
        public init(name: String, type: String, indexes: [String] = []) {
            self.name = name
            self.type = type
            self.indexes = indexes
        }
    }

    /// A record type.
    public struct RecordType: Sendable, Equatable {
        /// The name.
        public var name: String

        /// The fields in their written order.
        public var fields: [Field]

        /// Creates a record type.
        public init(name: String, fields: [Field]) {
            self.name = name
            self.fields = fields
        }
    }

    /// The record types in their written order.
    public var recordTypes: [RecordType]

    /// Creates a schema from record types.
    public init(recordTypes: [RecordType]) {
        self.recordTypes = recordTypes
    }

    /// The schema in CloudKit's schema language.
    public var text: String {
        "DEFINE SCHEMA\n" + recordTypes.map { "\n" + Self.text($0) }.joined()
    }

    /// Everybody may read, every user may create, and only the creator may change.
    private static let grants = [
        #"GRANT WRITE TO "_creator""#, #"GRANT CREATE TO "_icloud""#, #"GRANT READ TO "_world""#,
    ]

    private static func text(_ type: RecordType) -> String {
        let width = type.fields.map { SchemaName.text($0.name).count }.max() ?? 0
        let fields = type.fields.map { field in
            let name = SchemaName.text(field.name)
            let padding = String(repeating: " ", count: width - name.count + 1)
            return ([name + padding + field.type] + field.indexes).joined(separator: " ")
        }
        let lines = (fields + grants).map { "    " + $0 }.joined(separator: ",\n")
        return "RECORD TYPE \(SchemaName.text(type.name)) (\n\(lines)\n);\n"
    }
}

/// An error that occurs while a schema is derived or parsed.
public struct CloudKitSchemaError: Error, CustomStringConvertible, LocalizedError {
    /// A description of the problem and its place.
    public let description: String

    /// A description of the problem and its place.
    public var errorDescription: String? { description }

    init(_ description: String) {
        self.description = description
    }
}
