import ArgumentParser
import Foundation

/// Whether a file that is there may be replaced.
struct OverwriteOptions: ParsableArguments {
    @Flag(help: "Replace the file where it is there already.")
    var force = false

    /// Refuses to replace a file that nobody said may be; called before any work is done.
    ///
    /// - Throws: `CommandFailure`.
    func check(_ path: String) throws {
        if let problem = problem(with: path) { throw CommandFailure(unusable: problem) }
    }

    /// Why a file may not be written; nil where it may.
    func problem(with path: String) -> String? {
        guard !force, FileManager.default.fileExists(atPath: path) else { return nil }
        return "\(path) is there already; give another name, or --force to replace it"
    }
}
