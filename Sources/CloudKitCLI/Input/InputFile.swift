import Foundation

/// Files that commands read as a whole.
enum InputFile {
    /// Returns the bytes of a file, or of standard input for `-`.
    ///
    /// - Throws: `CommandFailure` when it cannot be read.
    static func data(at path: String) throws -> Data {
        do {
            // `Data(contentsOf:)` cannot read pipes, such as a shell's `<(command)`.
            let file: FileHandle =
                path == "-"
                ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            return try file.readToEnd() ?? Data()
        } catch {
            throw CommandFailure(unusable: "\(path): there is no file that can be read")
        }
    }
}
