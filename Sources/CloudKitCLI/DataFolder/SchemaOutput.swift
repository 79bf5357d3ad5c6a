import Foundation

/// The destination of a schema.
enum SchemaOutput {
    /// Writes a schema to a file, or prints it for nil.
    ///
    /// - Throws: `CommandFailure` when the file cannot be written.
    static func write(_ text: String, to file: String?) throws {
        guard let file else {
            return try Console.write(text.hasSuffix("\n") ? String(text.dropLast()) : text)
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw CommandFailure(
                unusable: "\(file) cannot be written: \(CommandFailure.reason(error))"
            )
        }
    }
}
