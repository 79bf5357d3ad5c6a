import Synchronization

/// Counts the bytes of uploads in flight, so that concurrent uploads cannot exceed a quota
/// together, and allows one upload at a time for each address.
final class UploadLedger: Sendable {
    private struct State {
        /// The received bytes, by address.
        var uploads: [Int64: Int64] = [:]
        /// The received bytes, by database.
        var bytes: [Int64: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Begins an upload; returns false if another is in flight at its address.
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

    /// Counts received bytes; returns all bytes in flight to the database.
    func add(_ count: Int, of id: Int64, to database: Int64) -> Int64 {
        state.withLock { state in
            state.uploads[id, default: 0] += Int64(count)
            let all = (state.bytes[database] ?? 0) + Int64(count)
            state.bytes[database] = all
            return all
        }
    }
}
