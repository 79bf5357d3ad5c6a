/// Applies the changes of other nodes to what a service keeps in memory: it wakes waiting requests, and
/// forgets callers.
final class ForeignChangeWatch: Sendable {
    private let tasks: [Task<Void, Never>]

    /// Begins to watch; returns nil for a storage without news of other nodes.
    init?(_ storage: any Storage, _ pushes: PushHub, _ callers: CallerCache) {
        guard let changes = storage.foreignChanges() else { return nil }
        // One look is enough for all changes before it.
        let (looks, look) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        tasks = [
            Task {
                for await change in changes {
                    if change.concernsCallers { callers.removeAll() }
                    if let queues = change.queues {
                        pushes.waiters.wake(queues)
                    } else {
                        look.yield()
                    }
                }
            },
            Task {
                for await _ in looks {
                    // The next unknown change lets it look again.
                    try? await pushes.wakeWhereFilled()
                }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }
}
