import CloudKitServerCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first damage that was noticed while the database was in use, or a repair that has not ended.
///
/// A file beside the database tells it to other processes, and to later ones: to find it again in a
/// large database would take them long, and the damaged database itself may not take it. What a repair
/// has not done yet, SQLite would not find at all.
final class DamageNote: Sendable {
    private let first = Mutex<String?>(nil)
    /// The file; nil for a database in memory.
    private let file: String?

    /// Creates the note of a database without damage.
    init(besideDatabase path: String?) {
        file = path.map { $0 + "-damaged" }
    }

    /// The description; nil if there was none.
    var text: String? { first.withLock { $0 } }

    /// Keeps a description, unless there is one.
    func add(_ text: String) {
        let isFirst = first.withLock { first in
            defer { first = first ?? text }
            return first == nil
        }
        guard isFirst, let file else { return }
        // Another process may have made it, and a full disk has no room: this one writes no more.
        try? AssetFile(creating: file).write(Data(text.utf8))
    }

    /// Keeps the description of an error if it reports damage.
    func add(_ error: any Error) {
        if StorageError.isDamage(error) { add("\(error)") }
    }

    /// Takes over the description that another process has kept, if there is one.
    func read() {
        guard let file, FileManager.default.fileExists(atPath: file) else { return }
        let kept = FileManager.default.contents(atPath: file) ?? Data()
        let text = kept.isEmpty ? "see \(file)" : String(decoding: kept, as: UTF8.self)
        first.withLock { $0 = $0 ?? text }
    }

    /// Forgets the damage in this process, which may write then, and keeps for all others that a
    /// repair has begun; whatever ends the process, they know.
    ///
    /// - Throws: `StorageError` when the file cannot be written; nothing may be repaired then.
    func beginRepair() throws {
        do {
            try keep("a repair has begun and not come to its end")
        } catch let error as StorageError {
            throw StorageError(
                error.code,
                "\(file ?? "") cannot be written, so nothing was repaired; make room on its disk, or "
                    + "let this user write to its folder (\(error.message))"
            )
        }
        first.withLock { $0 = nil }
    }

    /// Keeps a description in place of any other.
    func replace(_ text: String) {
        first.withLock { $0 = text }
        // Where it cannot be written, an earlier one stays.
        try? keep(text)
    }

    /// Writes a description to the file, which has the earlier one until then.
    private func keep(_ text: String) throws {
        guard let file else { return }
        let new = file + ".new"
        // A process that was killed may have left it.
        try? FileManager.default.removeItem(atPath: new)
        let mark = try AssetFile(creating: new)
        // The new name is gone with the publication, and of no use after a failure.
        defer { try? FileManager.default.removeItem(atPath: new) }
        try mark.write(Data(text.utf8))
        try mark.sync(new)
        try AssetFile.publish(new, as: file)
    }

    /// Forgets the damage, of which nothing is left.
    func clear() {
        first.withLock { $0 = nil }
        // Without damage there is no file.
        if let file { try? FileManager.default.removeItem(atPath: file) }
    }
}
