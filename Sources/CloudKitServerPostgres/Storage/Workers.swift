#if PostgreSQL
import CloudKitBasics
import CloudKitServerCore
import Dispatch
import Synchronization

/// A read or a write that waits for a connection.
struct Job: Sendable {
    /// The rows that a job changes.
    enum Kind: Hashable, Sendable {
        case read
        case write(WriteScope)
    }

    var kind: Kind
    /// `true` when the job shares its transaction with no other one.
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

/// The jobs of the connections, in order.
///
/// Writes of different databases go side by side; those of one database, and those that may change
/// anything, wait for each other here, where they keep no connection busy.
struct JobQueue {
    private var reads: [Job] = []
    private var firstRead = 0
    private var writes: [Job] = []
    /// The databases that running jobs change.
    private var running: Set<DatabaseKey> = []
    private var writers = 0
    private var isEverythingRunning = false
    var isClosed = false

    /// The number of waiting jobs.
    var count: Int { reads.count - firstRead + writes.count }

    mutating func add(_ job: Job) {
        if job.kind == .read { reads.append(job) } else { writes.append(job) }
    }

    /// Puts jobs back to the front.
    mutating func putBack(_ jobs: [Job]) {
        writes.insert(contentsOf: jobs.filter { $0.kind != .read }, at: 0)
        reads.insert(contentsOf: jobs.filter { $0.kind == .read }, at: firstRead)
    }

    /// Takes the next read, or the next writes that share a transaction.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of transactions that write at a time.
    ///   - size: The maximum number of writes that share one.
    /// - Returns: The jobs; empty if none can run.
    mutating func next(writers limit: Int, size: Int) -> [Job] {
        if writers < limit, let group = nextWrites(writers: limit, size: size) { return group }
        guard firstRead < reads.count else { return [] }
        let job = reads[firstRead]
        firstRead += 1
        if firstRead == reads.count || firstRead > 1024 {
            reads.removeFirst(firstRead)
            firstRead = 0
        }
        return [job]
    }

    private mutating func nextWrites(writers limit: Int, size: Int) -> [Job]? {
        guard !isEverythingRunning else { return nil }
        var group: [Job] = []
        var keys: Set<DatabaseKey> = []
        var blocked: Set<DatabaseKey> = []
        var rest: [Job] = []
        // The others of a crowd are for the other connections.
        let share = max(1, min(size, (writes.count + limit - 1) / limit))
        var place = 0
        while place < writes.count {
            let job = writes[place]
            guard case .write(.database(let key)) = job.kind else {
                // Whatever may change anything waits until nothing runs, and lets nobody overtake it.
                if place == 0, writers == 0 {
                    writes.removeFirst()
                    writers += 1
                    isEverythingRunning = true
                    return [job]
                }
                break
            }
            let isFull = group.count >= (keys.contains(key) ? size : share)
            let fits = job.isSingle ? group.isEmpty : !isFull && group.first?.isSingle != true
            if fits, !running.contains(key), !blocked.contains(key) {
                group.append(job)
                keys.insert(key)
            } else {
                blocked.insert(key)
                rest.append(job)
            }
            place += 1
        }
        guard !group.isEmpty else { return nil }
        writes.replaceSubrange(0..<place, with: rest)
        running.formUnion(keys)
        writers += 1
        return group
    }

    /// Notes the end of jobs that were taken.
    mutating func end(_ jobs: [Job]) {
        guard let first = jobs.first, first.kind != .read else { return }
        writers -= 1
        if case .write(.everything) = first.kind { isEverythingRunning = false }
        for job in jobs {
            if case .write(.database(let key)) = job.kind { running.remove(key) }
        }
    }
}

/// Threads that have a connection each, so that no call of libpq runs on a thread of Swift's.
final class Workers: Sendable {
    private struct State {
        var queue = JobQueue()
        var threads = 0
        var idle = 0
        /// Those who wait for the end of all threads.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let stackBytes = 2 * 1024 * 1024
    /// The number of jobs beyond which new ones are refused.
    private static let waitingLimit = 10_000
    /// The number of writes that share a transaction.
    private static let groupLimit = 64

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
        switch next {
        case .nothing: return
        case .wake: signal.signal()
        case .start: start()
        }
    }

    /// Waits for the next jobs; nil when there will be none.
    func next() -> [Job]? {
        while true {
            let jobs = state.withLock { state -> [Job]? in
                let jobs = state.queue.next(writers: writers, size: Self.groupLimit)
                guard jobs.isEmpty else { return jobs }
                if state.queue.isClosed, state.queue.count == 0 { return nil }
                state.idle += 1
                return []
            }
            guard let jobs else { return nil }
            if !jobs.isEmpty { return jobs }
            signal.wait()
        }
    }

    /// Notes the end of jobs, and puts some back; others may run now.
    func end(_ jobs: [Job], puttingBack again: [Job] = []) {
        let woken = state.withLock { state -> Int in
            state.queue.end(jobs)
            state.queue.putBack(again)
            // After the last job there is nothing to wait for.
            let isLast = state.queue.isClosed && state.queue.count == 0
            let woken = isLast ? state.idle : min(state.idle, state.queue.count)
            state.idle -= woken
            return woken
        }
        for _ in 0..<woken { signal.signal() }
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

    private func step(_ state: inout State) -> Step {
        if state.idle > 0 {
            state.idle -= 1
            return .wake
        }
        guard state.threads < limit else { return .nothing }
        state.threads += 1
        return .start
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
