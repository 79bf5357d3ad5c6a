#if PostgreSQL
import CloudKitBasics
import CloudKitServerCore
import Dispatch
import Synchronization

/// A job that waits for a connection.
struct Job: Sendable {
    /// The rows that a job changes.
    enum Kind: Hashable, Sendable {
        case read
        /// The bytes of assets, which no other kind of job concerns.
        case assets
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

    /// The parts of its scope, each of which one job changes at a time.
    var parts: Set<WriteScope> {
        guard case .write(let scope) = kind else { return [] }
        return scope.parts
    }
}

/// The jobs of the connections, in order.
///
/// Writes of different scopes go side by side; those of one scope, and those that may change anything,
/// wait for each other here, where they keep no connection busy.
struct JobQueue {
    /// Jobs that run in their order.
    private struct Lane {
        var jobs: [Job] = []
        var first = 0

        var count: Int { jobs.count - first }

        /// Takes the next jobs, at most a number of them.
        mutating func take(_ number: Int) -> [Job] {
            let taken = Array(jobs[first...].prefix(number))
            first += taken.count
            if first == jobs.count || first > 1024 {
                jobs.removeFirst(first)
                first = 0
            }
            return taken
        }

        mutating func putBack(_ job: Job) { jobs.insert(job, at: first) }
    }

    private var reads = Lane()
    private var assets = Lane()
    private var writes: [Job] = []
    /// The parts of running jobs' scopes.
    private var running: Set<WriteScope> = []
    private var writers = 0
    private var assetJobs = 0
    /// `true` when the last job but reads concerned an asset.
    private var wasAsset = false
    private var isEverythingRunning = false
    var isClosed = false

    /// The number of waiting jobs.
    var count: Int { reads.count + assets.count + writes.count }

    mutating func add(_ job: Job) {
        switch job.kind {
        case .read: reads.jobs.append(job)
        case .assets: assets.jobs.append(job)
        case .write: writes.append(job)
        }
    }

    /// Puts jobs back to the front.
    mutating func putBack(_ jobs: [Job]) {
        for job in jobs.reversed() {
            switch job.kind {
            case .read: reads.putBack(job)
            case .assets: assets.putBack(job)
            case .write: writes.insert(job, at: 0)
            }
        }
    }

    /// Takes the next reads that share a snapshot, the next job about an asset, or the next writes that
    /// share a transaction.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of transactions that write, or concern assets, at a time.
    ///   - size: The maximum number of writes that share one.
    ///   - readSize: The maximum number of reads that share a snapshot.
    /// - Returns: The jobs; empty if none can run.
    mutating func next(writers limit: Int, size: Int, reading readSize: Int) -> [Job] {
        if writers + assetJobs < limit {
            // However many writes wait, assets go on, and the other way round.
            if assetJobs == 0, !wasAsset, let job = nextAsset() { return [job] }
            if let group = nextWrites(writers: limit, size: size) {
                wasAsset = false
                return group
            }
            if assetJobs < max(1, limit / 2), let job = nextAsset() { return [job] }
        }
        // The others of a crowd are for the other connections.
        return reads.take(max(1, min(readSize, reads.count / limit)))
    }

    private mutating func nextAsset() -> Job? {
        guard let job = assets.take(1).first else { return nil }
        assetJobs += 1
        wasAsset = true
        return job
    }

    private mutating func nextWrites(writers limit: Int, size: Int) -> [Job]? {
        guard !isEverythingRunning else { return nil }
        var group: [Job] = []
        var taken: Set<WriteScope> = []
        var blocked: Set<WriteScope> = []
        var rest: [Job] = []
        // The others of a crowd are for the other connections.
        let share = max(1, min(size, (writes.count + limit - 1) / limit))
        var place = 0
        while place < writes.count {
            let job = writes[place]
            let parts = job.parts
            guard !parts.contains(.everything) else {
                // Whatever may change anything waits until nothing runs, and lets nobody overtake it.
                if place == 0, writers == 0 {
                    writes.removeFirst()
                    writers += 1
                    isEverythingRunning = true
                    return [job]
                }
                break
            }
            let isFull = group.count >= (taken.isDisjoint(with: parts) ? share : size)
            let fits = job.isSingle ? group.isEmpty : !isFull && group.first?.isSingle != true
            if fits, running.isDisjoint(with: parts), blocked.isDisjoint(with: parts) {
                group.append(job)
                taken.formUnion(parts)
            } else {
                blocked.formUnion(parts)
                rest.append(job)
            }
            place += 1
        }
        guard !group.isEmpty else { return nil }
        writes.replaceSubrange(0..<place, with: rest)
        running.formUnion(taken)
        writers += 1
        return group
    }

    /// Notes the end of jobs that were taken.
    mutating func end(_ jobs: [Job]) {
        switch jobs.first?.kind {
        case nil, .read: return
        case .assets: assetJobs -= 1
        case .write(let scope):
            writers -= 1
            if scope.parts.contains(.everything) { isEverythingRunning = false }
            for job in jobs { running.subtract(job.parts) }
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
    /// The number of reads that share a snapshot: one that turns out long keeps the others waiting.
    private static let readLimit = 8

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
                let jobs = state.queue.next(
                    writers: writers,
                    size: Self.groupLimit,
                    reading: Self.readLimit
                )
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
