/// The first place at which a text is no schema, and the reason.
package struct SchemaMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the text, from 1.
    package let line: Int
    /// The column of the line, from 1.
    package let column: Int
    /// What was found and what was expected.
    package let message: String

    init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    /// Creates the mistake of a word that the grammar allows and the reader of the schema does not.
    package init(_ message: String, at word: SchemaWord) {
        self.init(line: word.line, column: word.column, message: message)
    }

    /// The place and the message.
    package var description: String { "line \(line), column \(column): \(message)" }
}
