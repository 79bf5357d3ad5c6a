import CloudKitBasics
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
/// There is one set in the process. No more of them compute than there are processors: more would
/// only take turns, with each other and with the one thread that writes. A read counts as computing
/// at first, because most take microseconds; after a millisecond it is taken to wait for the disk.
final class StorageThreads: TaskExecutor {
    static let shared = StorageThreads(
        limit: 48,
        processors: max(2, ProcessInfo.processInfo.activeProcessorCount)
    )

    private struct State {
        var jobs: [UnownedJob] = []
        /// The index of the oldest job.
        var first = 0
        /// The number of started threads.
        var threads = 0
        /// The number of threads that wait for a signal.
        var idle = 0
        /// The number of threads that compute: those that neither wait for a signal nor for the disk.
        var computing = 0
        /// The number of reads that have begun.
        var begun = 0
        /// The numbers of the reads that count as computing.
        var quick: [Int] = []
        /// The number of the last read that had begun when waiting jobs were last looked after; `nil`
        /// when nobody will look.
        var watched: Int?

        /// Returns the next job of a thread that computes; nil if the thread has to wait.
        mutating func next(_ processors: Int) -> UnownedJob? {
            guard first < jobs.count, computing <= processors else {
                computing -= 1
                idle += 1
                return nil
            }
            let job = jobs[first]
            first += 1
            if first == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                first = 0
            }
            return job
        }
    }

    /// The way in which waiting jobs get another thread.
    private enum Joining {
        case none, woken, started
        /// Later, if one of the reads takes long.
        case watched
    }

    private static let stackBytes = 2 * 1024 * 1024

    private let limit: Int
    private let processors: Int
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let watch = DispatchQueue(label: "cloudkit.reads")
    private let key: pthread_key_t

    private init(limit: Int, processors: Int) {
        self.limit = limit
        self.processors = processors
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        self.key = key
    }

    /// `true` when the current thread is one of them.
    var isCurrent: Bool { pthread_getspecific(key) != nil }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        join(
            state.withLock { state in
                state.jobs.append(job)
                return joining(&state)
            }
        )
    }

    /// Runs a closure that may wait for the disk or another thread, on one of these threads; others
    /// compute meanwhile if it takes long.
    func reading<Value>(_ body: () throws -> Value) rethrows -> Value {
        let (number, next) = state.withLock { state -> (Int, Joining) in
            state.begun += 1
            state.quick.append(state.begun)
            return (state.begun, joining(&state))
        }
        join(next)
        defer {
            state.withLock { state in
                if let place = state.quick.firstIndex(of: number) {
                    state.quick.remove(at: place)
                } else {
                    state.computing += 1
                }
            }
        }
        return try body()
    }

    /// Counts another thread as one that computes if there is work and a processor for it.
    private func joining(_ state: inout State) -> Joining {
        guard state.first < state.jobs.count else { return .none }
        guard state.computing < processors else {
            guard state.watched == nil, !state.quick.isEmpty else { return .none }
            state.watched = state.begun
            return .watched
        }
        if state.idle > 0 {
            state.idle -= 1
            state.computing += 1
            return .woken
        }
        guard state.threads < limit else { return .none }
        state.threads += 1
        state.computing += 1
        return .started
    }

    private func join(_ joining: Joining) {
        switch joining {
        case .none: break
        case .woken: signal.signal()
        case .started: start()
        case .watched:
            watch.asyncAfter(deadline: .now() + .milliseconds(1)) { self.replaceSlowReads() }
        }
    }

    /// Lets waiting jobs have the processors of reads that have not ended since they were last seen.
    private func replaceSlowReads() {
        state.withLock { state in
            let slow = state.quick.partition { $0 <= state.watched ?? 0 }
            state.computing -= state.quick.count - slow
            state.quick.removeSubrange(slow...)
            state.watched = nil
        }
        var joining: Joining
        repeat {
            joining = state.withLock { self.joining(&$0) }
            join(joining)
        } while joining == .woken || joining == .started
    }

    private func start() {
        let isStarted = DetachedThread.start(stackBytes: Self.stackBytes) {
            StorageThreads.shared.work()
        }
        guard !isStarted else { return }
        // The machine has no room for another thread: the existing ones do the work.
        state.withLock { state in
            state.threads -= 1
            state.computing -= 1
            precondition(state.threads > 0, "The process cannot start a thread")
        }
    }

    /// Runs jobs forever.
    private func work() {
        pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
        let executor = asUnownedTaskExecutor()
        while true {
            if let job = state.withLock({ $0.next(processors) }) {
                job.runSynchronously(on: executor)
            } else {
                signal.wait()
            }
        }
    }
}
