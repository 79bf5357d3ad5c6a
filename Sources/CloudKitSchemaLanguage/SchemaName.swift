/// The spelling of names in the schema language.
package enum SchemaName {
    /// The words that are names only in quotation marks.
    private static let keywords: Set = [
        "GRANT", "PREFERRED", "QUERYABLE", "SORTABLE", "SEARCHABLE",
    ]

    /// Returns a name, quoted if it would not be read as a name otherwise.
    package static func text(_ name: String) -> String {
        let isPlain =
            SchemaLexer.isPlain(name) && !keywords.contains(name.uppercased())
        return isPlain ? name : "\"\(name)\""
    }
}
