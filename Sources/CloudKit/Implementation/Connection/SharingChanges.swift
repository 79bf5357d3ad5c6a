import Synchronization

/// Notifies a process's own engines that it accepted or left shares, because the service notifies
/// every device but the one that did it.
final class SharingChanges: Sendable {
    private let observers = Mutex<(last: Int, all: [Int: @Sendable () -> Void])>((0, [:]))

    /// Adds an observer; returns a closure that removes it.
    func observe(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = observer
            return observers.last
        }
        return { [weak self] in self?.remove(number) }
    }

    /// Notifies all observers.
    func post() {
        // Observers are called outside the lock, because they may do anything.
        for observer in observers.withLock({ Array($0.all.values) }) { observer() }
    }

    private func remove(_ number: Int) {
        // The observer is released outside the lock.
        _ = observers.withLock { $0.all.removeValue(forKey: number) }
    }
}
