/// A syntax error in a schema: the position of the first error and a description.
package struct SchemaParsingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the text, counted from 1.
    package let line: Int
    /// The column of the line, counted from 1.
    package let column: Int
    /// The description of the expected and the found text.
    package let message: String

    init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    /// Creates the error for a word that the grammar allows but the reader of the schema rejects.
    package init(_ message: String, at word: SchemaWord) {
        self.init(line: word.line, column: word.column, message: message)
    }

    /// The position and the message.
    package var description: String { "line \(line), column \(column): \(message)" }
}
