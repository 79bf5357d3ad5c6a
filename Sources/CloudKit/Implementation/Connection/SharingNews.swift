import Synchronization

/// Tells a process's own engines that it accepted or left shares: the service pushes that to every
/// device but the one that did it.
final class SharingNews: Sendable {
    private let observers = Mutex<(last: Int, all: [Int: @Sendable () -> Void])>((0, [:]))

    /// Adds an observer; answers what removes it.
    func observe(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = observer
            return observers.last
        }
        return { [weak self] in self?.remove(number) }
    }

    /// Tells all observers.
    func post() {
        // Called outside the lock, as they may do anything.
        for observer in observers.withLock({ Array($0.all.values) }) { observer() }
    }

    private func remove(_ number: Int) {
        // Released outside the lock.
        _ = observers.withLock { $0.all.removeValue(forKey: number) }
    }
}
