import Synchronization

/// The question whether a storage can be read, which all that ask at a time share.
final class ReadCheck: Sendable {
    /// The time for a result: a storage over a network may wait much longer for a lost connection.
    private static let patience = Duration.seconds(2)

    private let storage: any Storage
    private let current = Mutex<Task<Bool, Never>?>(nil)

    init(_ storage: any Storage) { self.storage = storage }

    /// Returns whether the storage can be read now.
    func canRead() async -> Bool {
        let reading = current.withLock { current in
            let reading = current ?? Task { await read() }
            current = reading
            return reading
        }
        let (answers, answer) = AsyncStream<Bool>.makeStream()
        Task { answer.yield(await reading.value) }
        let timer = Task {
            // A wait that is cancelled has its result.
            try? await Task.sleep(for: Self.patience)
            answer.yield(false)
        }
        defer { timer.cancel() }
        return await answers.first { _ in true } ?? false
    }

    private func read() async -> Bool {
        // Whatever the error is, nothing can be served.
        let value: Void? = try? await storage.read { _ = try $0.setting(TokenKey.setting) }
        current.withLock { $0 = nil }
        return value != nil
    }
}
