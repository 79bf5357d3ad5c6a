import CloudKitServerCore
import Synchronization

/// The first damage that SQLite reported while the database was in use.
final class DamageNote: Sendable {
    private let first = Mutex<String?>(nil)

    /// The description; nil if there was none.
    var text: String? { first.withLock { $0 } }

    /// Keeps a description, unless there is one.
    func add(_ text: String) {
        first.withLock { $0 = $0 ?? text }
    }

    /// Keeps the description of an error if it reports damage.
    func add(_ error: any Error) {
        if StorageError.isDamage(error) { add("\(error)") }
    }
}
