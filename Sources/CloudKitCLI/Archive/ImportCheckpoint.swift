import CloudKitWebClient
import Foundation

/// How far an import came, in a file, so that one that was cut goes on where it stopped.
struct ImportCheckpoint: Codable, Hashable {
    /// What tells the exported file from others.
    var file: String
    /// All lines up to this one are done.
    var line = 0
    /// Lines behind that which are done as well: records come after those that they need.
    var more: Set<Int> = []
    /// What was done so far.
    var report = ImportReport()

    /// Whether a line was imported or refused.
    func isDone(_ number: Int) -> Bool { number <= line || more.contains(number) }

    /// Notes that lines are done.
    mutating func note(_ numbers: some Sequence<Int>) {
        more.formUnion(numbers)
        while more.remove(line + 1) != nil { line += 1 }
    }

    /// Reads the file of an earlier import; nil when there is none.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, or is of another export.
    static func read(_ path: String, file: String) throws -> ImportCheckpoint? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let found: ImportCheckpoint
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            found = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw CommandFailure(
                unusable: "\(path) is no checkpoint of an import; remove it to begin anew"
            )
        }
        guard found.file == file else {
            throw CommandFailure(
                unusable: "\(path) is the checkpoint of another export; remove it to begin anew"
            )
        }
        return found
    }

    /// Writes the file; a reader sees the old one or the new one, never a part.
    func write(_ path: String) throws {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let data = try encoder.encode(self)
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandFailure(unusable: "\(path) cannot be written: \(error)")
        }
    }
}
