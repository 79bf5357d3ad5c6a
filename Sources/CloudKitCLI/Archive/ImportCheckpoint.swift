import CloudKitWebClient
import Foundation

/// The progress of an import, in a file, so that an interrupted import continues where it stopped.
struct ImportCheckpoint: Codable, Hashable {
    /// The identity of the exported file.
    var file: String
    /// The last of the lines that are all done.
    var line = 0
    /// Later lines that are done too, because records are sent after those that they need.
    var more: Set<Int> = []
    /// The results so far.
    var report = ImportReport()

    /// Returns whether a line was imported or refused.
    func isDone(_ number: Int) -> Bool { number <= line || more.contains(number) }

    /// Marks lines as done.
    mutating func note(_ numbers: some Sequence<Int>) {
        more.formUnion(numbers)
        while more.remove(line + 1) != nil { line += 1 }
    }

    /// Returns the checkpoint of an earlier import; nil when there is none.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, or belongs to another export.
    static func read(_ path: String, file: String) throws -> ImportCheckpoint? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let found: ImportCheckpoint
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            found = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw CommandFailure(
                unusable: "\(path) is not a checkpoint of an import; remove it to start again"
            )
        }
        guard found.file == file else {
            throw CommandFailure(
                unusable: "\(path) is the checkpoint of another export; remove it to start again"
            )
        }
        return found
    }

    /// Writes the file; a reader sees the old or the new content, never a part.
    func write(_ path: String) throws {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let data = try encoder.encode(self)
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandFailure(
                unusable: "\(path) cannot be written: \(CommandFailure.reason(error))"
            )
        }
    }
}
