import CloudKitServerCore

/// A file in the schema language.
struct SchemaFile {
    let path: String
    let text: String

    /// Creates a schema file by reading a file, or standard input for `-`.
    ///
    /// - Throws: `CommandFailure` when it cannot be read.
    init(path: String) throws {
        self.path = path
        guard let text = String(validating: try InputFile.data(at: path), as: UTF8.self) else {
            throw CommandFailure(unusable: "\(path) is not text in UTF-8")
        }
        self.text = text
    }

    /// Runs a step on the text; the error of a mistake in it includes the file's name.
    func parsed<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        do {
            return try await body(text)
        } catch let error as SchemaSyntaxError {
            throw CommandFailure(unusable: "\(path), \(error)")
        }
    }
}
