import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The threads on which requests read: as many as may wait for the disk at a time, separate from
/// those of Swift's global executor.
///
/// There is one set in the process; a thread starts when there is work and none is free.
final class StorageThreads: TaskExecutor {
    static let shared = StorageThreads(limit: 48)

    private struct State {
        var jobs: [UnownedJob] = []
        /// The index of the oldest job.
        var first = 0
        /// The number of started threads, and of those that run a job.
        var threads = 0
        var busy = 0

        var queued: Int { jobs.count - first }

        mutating func next() -> UnownedJob? {
            guard first < jobs.count else { return nil }
            let job = jobs[first]
            first += 1
            if first == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                first = 0
            }
            busy += 1
            return job
        }
    }

    private static let stackBytes = 2 * 1024 * 1024

    private let limit: Int
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let key: pthread_key_t

    private init(limit: Int) {
        self.limit = limit
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        self.key = key
    }

    /// `true` when the current thread is one of them.
    var isCurrent: Bool { pthread_getspecific(key) != nil }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let starts = state.withLock { state in
            state.jobs.append(job)
            guard state.queued > state.threads - state.busy, state.threads < limit else {
                return false
            }
            state.threads += 1
            return true
        }
        if starts { start() }
        signal.signal()
    }

    private func start() {
        // Not created by an initializer, because C's headers belong to different modules on
        // different systems.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setstacksize(attributes, Self.stackBytes)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(
            &thread,
            attributes,
            { _ in
                StorageThreads.shared.work()
                return nil
            },
            nil
        )
        guard failure != 0 else { return }
        // The machine has no room for another thread: the existing ones do the work.
        state.withLock { state in
            state.threads -= 1
            precondition(state.threads > 0, "The process cannot start a thread")
        }
    }

    /// Runs jobs forever.
    private func work() {
        pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
        let executor = asUnownedTaskExecutor()
        while true {
            signal.wait()
            guard let job = state.withLock({ $0.next() }) else { continue }
            job.runSynchronously(on: executor)
            state.withLock { $0.busy -= 1 }
        }
    }
}
