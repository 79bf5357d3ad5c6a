import ArgumentParser
import Foundation

/// The options for replacing an existing file.
struct OverwriteOptions: ParsableArguments {
    @Flag(help: "Replace an existing file.")
    var force = false

    /// Refuses to replace a file without permission; called before any work is done.
    ///
    /// - Throws: `CommandFailure`.
    func check(_ path: String) throws {
        if let problem = problem(with: path) { throw CommandFailure(unusable: problem) }
    }

    /// Returns the reason why a file must not be written; nil when it may.
    func problem(with path: String) -> String? {
        guard !force, FileManager.default.fileExists(atPath: path) else { return nil }
        return "\(path) already exists; give another name, or --force to replace it"
    }
}
