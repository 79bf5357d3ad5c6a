import CloudKitServerCore
import Foundation

/// A file in the schema language.
struct SchemaFile {
    let path: String
    let text: String

    /// Creates a schema file by reading a file, or standard input for `-`.
    ///
    /// - Throws: `CommandFailure` when it cannot be read.
    init(path: String) throws {
        self.path = path
        do {
            // `Data(contentsOf:)` cannot read pipes, such as a shell's `<(command)`.
            let file: FileHandle =
                path == "-"
                ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let data = try file.readToEnd() ?? Data()
            guard let text = String(validating: data, as: UTF8.self) else {
                throw CommandFailure(unusable: "\(path) is not text in UTF-8")
            }
            self.text = text
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(unusable: "\(path): there is no file that can be read")
        }
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
