#if PostgreSQL
import CloudKitBasics
import CloudKitServerCore
import Dispatch
import Synchronization

/// A job that waits for a connection.
struct Job: QueuedJob {
    var kind: JobKind
    var isSingle = false
    var needs: @Sendable () -> StorageNeeds
    /// Runs the closure on a transaction, and keeps its result.
    var run: @Sendable (PostgresTransaction) throws -> Void
    /// Ends the wait for the job, with an error or with the result.
    var finish: @Sendable ((any Error)?) -> Void
    /// The time at which the job no longer waits for its turn.
    var end: ContinuousClock.Instant
    /// The maximum time for a round trip of the job; nil for no limit.
    var patience: Duration?
    /// The number of times that the job has run in vain.
    var tries = 0
}

/// Threads that have a connection each, so that no call of libpq runs on a thread of Swift's.
final class Workers: Sendable {
    private struct State {
        var queue = JobQueue<Job>()
        var threads = 0
        var idle = 0
        /// `true` when one of them waits only for some time, because jobs are held back.
        var isWatched = false
        /// Those who wait for the end of all threads.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let stackBytes = 2 * 1024 * 1024
    /// The number of jobs beyond which new ones are refused.
    private static let waitingLimit = 10_000
    /// The number of writes that share a transaction.
    private static let groupLimit = 64
    /// The number of reads that share a snapshot: one that turns out long keeps the others waiting.
    private static let readLimit = 8
    /// The time for which jobs are held back.
    private static let hold = DispatchTimeInterval.milliseconds(2)

    /// The maximum number of threads.
    let limit: Int
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let work: @Sendable (Workers) -> Void

    /// - Parameters:
    ///   - limit: The maximum number of threads.
    ///   - work: What each of them does until there is no more work.
    init(limit: Int, work: @escaping @Sendable (Workers) -> Void) {
        self.limit = limit
        self.work = work
    }

    /// The number of transactions that write at a time, so that reads always find a connection.
    private var writers: Int { max(1, limit * 3 / 4) }

    /// Adds a job.
    ///
    /// - Throws: `StorageError` if there is no room for it.
    func add(_ job: Job) throws {
        let next = try state.withLock { state -> Step in
            guard !state.queue.isClosed else {
                throw StorageError(.other, "The storage was closed")
            }
            guard state.queue.count < Self.waitingLimit else {
                throw StorageError(.busy, "Too many requests wait for PostgreSQL")
            }
            state.queue.add(job)
            return step(&state)
        }
        take(next)
    }

    /// The next step of a thread without jobs.
    private enum Turn {
        case run([Job], next: Step)
        case wait
        /// Waits only for as long as jobs are held back.
        case watch
        case end
    }

    /// Waits for the next jobs; nil when there will be none.
    func next() -> [Job]? {
        var isLate = false
        while true {
            switch state.withLock({ turn(&$0, isLate) }) {
            case .run(let jobs, let next):
                take(next)
                return jobs
            case .end: return nil
            case .wait:
                signal.wait()
                isLate = false
            case .watch: isLate = watch()
            }
        }
    }

    private func turn(_ state: inout State, _ isLate: Bool) -> Turn {
        let jobs = state.queue.next(
            writers: writers,
            size: Self.groupLimit,
            reading: Self.readLimit,
            isLate: isLate
        )
        guard jobs.isEmpty else { return .run(jobs, next: step(&state)) }
        if state.queue.isClosed, state.queue.count == 0 { return .end }
        state.idle += 1
        guard state.queue.holdsBack, !state.isWatched else { return .wait }
        state.isWatched = true
        return .watch
    }

    /// Waits for a signal; returns `true` if none came before jobs were held back for long enough.
    private func watch() -> Bool {
        let isOver = signal.wait(timeout: .now() + Self.hold) == .timedOut
        let isSignalled = state.withLock { state in
            state.isWatched = false
            guard isOver else { return false }
            guard state.idle == 0 else {
                state.idle -= 1
                return false
            }
            // Each of the waiting threads has a signal, this one too.
            return true
        }
        if isSignalled { signal.wait() }
        return isOver
    }

    /// Notes the end of jobs, and puts some back; others may run now.
    ///
    /// The thread that calls this takes the next ones, and wakes another one if there are more.
    func end(_ jobs: [Job], puttingBack again: [Job] = []) {
        let (woken, next) = state.withLock { state -> (Int, Step) in
            state.queue.end(jobs)
            state.queue.putBack(again)
            // After the last job there is nothing to wait for.
            if state.queue.isClosed, state.queue.count == 0 {
                defer { state.idle = 0 }
                return (state.idle, .nothing)
            }
            // This thread may have no connection for them.
            return (0, again.isEmpty ? .nothing : step(&state))
        }
        for _ in 0..<woken { signal.signal() }
        take(next)
    }

    /// Takes no more jobs, and ends all threads once those that were taken have ended.
    func close() {
        let idle = state.withLock { state in
            state.queue.isClosed = true
            guard state.queue.count == 0 else { return 0 }
            defer { state.idle = 0 }
            return state.idle
        }
        for _ in 0..<idle { signal.signal() }
    }

    /// Waits until all threads have ended, with their connections.
    func end() async {
        close()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threads > 0 { state.waiters.append(continuation) }
                return state.threads == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func threadEnded() {
        let waiters = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The work of the threads at one time.
    struct Load: Hashable {
        /// Jobs that wait.
        var waiting: Int
        /// Threads that have jobs.
        var busy: Int
    }

    /// The work of the threads now.
    var load: Load {
        state.withLock { Load(waiting: $0.queue.count, busy: $0.threads - $0.idle) }
    }

    private enum Step {
        case nothing, wake, start
    }

    /// Returns the step by which another thread takes jobs, or watches over those that are held back.
    private func step(_ state: inout State) -> Step {
        let isNeeded =
            state.queue.hasWork(writers: writers) || (state.queue.holdsBack && !state.isWatched)
        guard isNeeded else { return .nothing }
        if state.idle > 0 {
            state.idle -= 1
            return .wake
        }
        guard state.threads < limit else { return .nothing }
        state.threads += 1
        return .start
    }

    private func take(_ step: Step) {
        switch step {
        case .nothing: return
        case .wake: signal.signal()
        case .start: start()
        }
    }

    private func start() {
        let isStarted = DetachedThread.start(stackBytes: Self.stackBytes) {
            self.work(self)
            self.threadEnded()
        }
        guard !isStarted else { return }
        // The machine has no room for another thread: the existing ones do the work.
        state.withLock { state in
            state.threads -= 1
            precondition(state.threads > 0, "The process cannot start a thread")
        }
    }
}
#endif
