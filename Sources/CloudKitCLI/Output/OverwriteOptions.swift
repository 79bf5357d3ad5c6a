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
        if let problem = Self.problem(withReplacing: path) { return problem }
        guard !force, FileManager.default.fileExists(atPath: path) else { return nil }
        return "\(path) already exists; give another name, or --force to replace it"
    }

    /// Returns the reason why a path cannot be that of a file to write; nil when it can.
    ///
    /// A device must not be replaced: commands write a new file and rename it.
    static func problem(withReplacing path: String) -> String? {
        if path == "-" {
            return "This command writes to a file, not to standard output; ./- is a file called -"
        }
        guard !path.isEmpty else { return "The name of the file to write is empty; give one" }
        let manager = FileManager.default
        let url = URL(fileURLWithPath: path)
        guard url.lastPathComponent.utf8.count <= Int(NAME_MAX) else {
            return
                "The name of the file to write has \(url.lastPathComponent.utf8.count) bytes, and "
                + "\(NAME_MAX) are allowed; give a shorter one"
        }
        if manager.fileExists(atPath: path) {
            let target = url.resolvingSymlinksInPath().path
            // What cannot be examined is not replaced.
            let type = try? manager.attributesOfItem(atPath: target)[.type] as? FileAttributeType
            return type == .typeRegular
                ? nil : "\(path) is a folder or a device, not a file; give another name"
        }
        // A path that is no link has no destination.
        if let target = try? manager.destinationOfSymbolicLink(atPath: path) {
            return
                "\(path) is a link to \(target), which is not there; remove it, or give another name"
        }
        let folder = url.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            return "\(folder) is no folder; name a file in one that exists"
        }
        return nil
    }
}
