/// Names as the schema language writes them.
package enum SchemaName {
    /// The words that are no names unless they stand in quotation marks.
    private static let keywords: Set = [
        "GRANT", "PREFERRED", "QUERYABLE", "SORTABLE", "SEARCHABLE",
    ]

    /// Returns a name, in quotation marks where it would not be read as one without.
    package static func text(_ name: String) -> String {
        let isPlain =
            SchemaLexer.isPlain(name) && !keywords.contains(name.uppercased())
        return isPlain ? name : "\"\(name)\""
    }
}
