#if S3
import Synchronization

/// Keeps the removal of an asset and uploads of the same bytes apart within this process: bytes that are being
/// stored are not removed, and an upload waits for a removal in progress.
final class ChecksumTurns: Sendable {
    private struct State {
        /// The number of uploads in progress, by checksum.
        var uploads: [[UInt8]: Int] = [:]
        /// The uploads that wait for a removal, by checksum.
        var removals: [[UInt8]: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// Runs an upload, after a removal of the same bytes.
    func store<Result>(
        _ checksum: [UInt8],
        _ upload: () async throws -> Result
    ) async rethrows -> Result {
        while await !beginUpload(checksum) {}
        defer {
            state.withLock { state in
                let left = (state.uploads[checksum] ?? 1) - 1
                state.uploads[checksum] = left > 0 ? left : nil
            }
        }
        return try await upload()
    }

    /// Runs a removal unless the same bytes are being stored or removed.
    func remove(_ checksum: [UInt8], _ removal: () async throws -> Void) async rethrows {
        let isFree = state.withLock { state in
            guard state.uploads[checksum] == nil, state.removals[checksum] == nil else {
                return false
            }
            state.removals[checksum] = []
            return true
        }
        guard isFree else { return }
        defer {
            let waiting = state.withLock { $0.removals.removeValue(forKey: checksum) ?? [] }
            for upload in waiting { upload.resume() }
        }
        try await removal()
    }

    /// Begins an upload; returns false after it has waited for a removal.
    private func beginUpload(_ checksum: [UInt8]) async -> Bool {
        let isFree = state.withLock { state in
            guard state.removals[checksum] == nil else { return false }
            state.uploads[checksum, default: 0] += 1
            return true
        }
        guard !isFree else { return true }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.removals[checksum] != nil else { return true }
                state.removals[checksum]?.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
        return false
    }
}
#endif
