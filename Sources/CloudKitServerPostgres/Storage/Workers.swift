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
    /// The number of times that the job has run in vain.
    var tries = 0
}

/// The jobs of the connections, in order.
///
/// Writes of different databases go side by side; those of one database, and those that may change
/// anything, wait for each other here, where they keep no connection busy.
struct JobQueue {
    /// Jobs that run in their order.
    private struct Lane {
        var jobs: [Job] = []
        var first = 0

        var count: Int { jobs.count - first }

        mutating func take() -> Job? {
            guard first < jobs.count else { return nil }
            let job = jobs[first]
            first += 1
            if first == jobs.count || first > 1024 {
                jobs.removeFirst(first)
                first = 0
            }
            return job
        }
    }

    private var reads = Lane()
    private var assets = Lane()
    private var writes: [Job] = []
    /// The databases that running jobs change.
    private var running: Set<DatabaseKey> = []
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
    mutating func putBack(_ jobs: [Job]) { writes.insert(contentsOf: jobs, at: 0) }

    /// Takes the next read, the next job about an asset, or the next writes that share a transaction.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of transactions that write, or concern assets, at a time.
    ///   - size: The maximum number of writes that share one.
    /// - Returns: The jobs; empty if none can run.
    mutating func next(writers limit: Int, size: Int) -> [Job] {
        if writers + assetJobs < limit {
            // However many writes wait, assets go on, and the other way round.
            if assetJobs == 0, !wasAsset, let job = nextAsset() { return [job] }
            if let group = nextWrites(writers: limit, size: size) {
                wasAsset = false
                return group
            }
            if assetJobs < max(1, limit / 2), let job = nextAsset() { return [job] }
        }
        return reads.take().map { [$0] } ?? []
    }

    private mutating func nextAsset() -> Job? {
        guard let job = assets.take() else { return nil }
        assetJobs += 1
        wasAsset = true
        return job
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
        switch jobs.first?.kind {
        case nil, .read: return
        case .assets: assetJobs -= 1
        case .write(let scope):
            writers -= 1
            if scope == .everything { isEverythingRunning = false }
        }
        for job in jobs {
            if case .write(.database(let key)) = job.kind { running.remove(key) }
        }
    }

    /// Takes all jobs.
    mutating func takeAll() -> [Job] {
        defer { (reads, assets, writes) = (Lane(), Lane(), []) }
        return reads.jobs[reads.first...] + assets.jobs[assets.first...] + writes
    }
}

/// Threads that have a connection each, so that no call of libpq runs on a thread of Swift's.
final class Workers: Sendable {
    private struct State {
        var queue = JobQueue()
        var threads = 0
        var idle = 0
    }

    private static let stackBytes = 2 * 1024 * 1024
    /// The number of jobs beyond which new ones are refused.
    private static let waitingLimit = 10_000
    /// The number of writes that share a transaction.
    private static let groupLimit = 64

    private let limit: Int
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

    /// Adds a job; returns whether there was room for it.
    func add(_ job: Job) -> Bool {
        let next = state.withLock { state -> Step in
            guard !state.queue.isClosed, state.queue.count < Self.waitingLimit else {
                return .refused
            }
            state.queue.add(job)
            return step(&state)
        }
        perform(next)
        return next != .refused
    }

    /// Waits for the next jobs; nil when there will be none.
    func next() -> [Job]? {
        while true {
            let jobs = state.withLock { state -> [Job]? in
                if state.queue.isClosed { return nil }
                let jobs = state.queue.next(writers: writers, size: Self.groupLimit)
                if jobs.isEmpty { state.idle += 1 }
                return jobs
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
            let woken = min(state.idle, state.queue.count)
            state.idle -= woken
            return woken
        }
        for _ in 0..<woken { signal.signal() }
    }

    /// Ends all threads after their current jobs; jobs that wait are refused.
    func close() {
        let (waiting, idle) = state.withLock { state in
            state.queue.isClosed = true
            defer { state.idle = 0 }
            return (state.queue.takeAll(), state.idle)
        }
        for _ in 0..<idle { signal.signal() }
        for job in waiting { job.finish(StorageError(.other, "The storage was closed")) }
    }

    private enum Step {
        case refused, nothing, wake, start
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

    private func perform(_ step: Step) {
        switch step {
        case .refused, .nothing: return
        case .wake: signal.signal()
        case .start: start()
        }
    }

    private func start() {
        let isStarted = DetachedThread.start(stackBytes: Self.stackBytes) { self.work(self) }
        guard !isStarted else { return }
        // The machine has no room for another thread: the existing ones do the work.
        state.withLock { state in
            state.threads -= 1
            precondition(state.threads > 0, "The process cannot start a thread")
        }
    }
}
#endif
