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
