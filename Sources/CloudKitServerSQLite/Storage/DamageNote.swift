import CloudKitServerCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first damage that was noticed while the database was in use.
///
/// A file beside the database tells it to other processes, and to later ones: to find it again in a
/// large database would take them long, and the damaged database itself may not take it.
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
        guard let file, let kept = FileManager.default.contents(atPath: file) else { return }
        first.withLock { $0 = $0 ?? String(decoding: kept, as: UTF8.self) }
    }

    /// Forgets the damage, of which nothing is left.
    func clear() {
        first.withLock { $0 = nil }
        // Without damage there is no file.
        if let file { try? FileManager.default.removeItem(atPath: file) }
    }
}
