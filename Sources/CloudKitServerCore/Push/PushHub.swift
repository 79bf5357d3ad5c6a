import Synchronization

/// The notifications of a service after their commits: the requests that wait for them, and the last
/// ones for operators.
final class PushHub: Sendable {
    /// The waiting requests.
    let waiters: PushWaiters
    private let journal = PushJournal()
    private let storage: any Storage
    private let lastForeignChange = Mutex<Int64?>(nil)

    init(_ storage: any Storage) {
        self.storage = storage
        waiters = PushWaiters.shared(of: storage)
    }

    /// Wakes the requests that wait for a commit's notifications, and keeps these for operators.
    func announce(_ news: PushNews) {
        waiters.wake(news.queues)
        journal.add(news.entries)
    }

    /// Returns the last notifications that users of a container were to get, oldest first.
    func entries(of container: String) -> [PushEntry] { journal.entries(of: container) }

    /// Wakes the waiting requests if another process has written to the storage.
    func wakeAfterExternalChanges() async throws {
        guard waiters.count > 0, let number = try await storage.externalChangeCount() else {
            return
        }
        let isNew = lastForeignChange.withLock { last in
            defer { last = number }
            return last != number
        }
        if isNew { waiters.wakeAll() }
    }

    /// Wakes the requests for which there are notifications, whoever has added them.
    func wakeWhereFilled() async throws {
        let queues = waiters.queues
        guard !queues.isEmpty else { return }
        waiters.wake(try await storage.read { try $0.filledQueues(queues) })
    }
}
