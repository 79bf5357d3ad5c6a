/// A text that is no schema.
public struct SchemaSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the text, from 1.
    public var line: Int
    /// The column of the line, from 1.
    public var column: Int
    /// What was found and what was expected.
    public var message: String

    /// The place and the message.
    public var description: String { "line \(line), column \(column): \(message)" }
}
