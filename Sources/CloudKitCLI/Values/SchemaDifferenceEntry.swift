import CloudKitCoreData

/// A difference between a model and a schema, in the output of `--json`.
struct SchemaDifferenceEntry: Encodable {
    let kind: String
    let severity: String
    let recordType: String
    let field: String?
    let property: String
    let message: String

    init(_ difference: CoreDataSchemaDifference) {
        kind = difference.kind.rawValue
        severity = difference.severity.rawValue
        recordType = difference.recordType
        field = difference.field
        property = difference.place
        message = difference.message
    }

    /// Prints differences; for people, one on each line.
    static func write(_ differences: [CoreDataSchemaDifference], _ output: OutputOptions) throws {
        for difference in differences {
            if output.json {
                try output.write(SchemaDifferenceEntry(difference))
            } else {
                try Console.write(DisplayText(difference.description).text)
            }
        }
    }
}
