import Synchronization

/// Counts the bytes that are on their way in, so that uploads side by side do not exceed a quota
/// together, and lets each address take one upload at a time.
final class UploadLedger: Sendable {
    private struct State {
        /// Bytes that came, by address.
        var uploads: [Int64: Int64] = [:]
        /// Bytes that came, by database.
        var bytes: [Int64: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Begins an upload; answers whether none is under way at its address.
    func begin(_ id: Int64) -> Bool {
        state.withLock { state in
            guard state.uploads[id] == nil else { return false }
            state.uploads[id] = 0
            return true
        }
    }

    /// Ends an upload.
    func end(_ id: Int64, _ database: Int64) {
        state.withLock { state in
            let left = (state.bytes[database] ?? 0) - (state.uploads.removeValue(forKey: id) ?? 0)
            state.bytes[database] = left > 0 ? left : nil
        }
    }

    /// Counts bytes that came; answers all that are under way to the database.
    func add(_ count: Int, of id: Int64, to database: Int64) -> Int64 {
        state.withLock { state in
            state.uploads[id, default: 0] += Int64(count)
            let all = (state.bytes[database] ?? 0) + Int64(count)
            state.bytes[database] = all
            return all
        }
    }
}
