#if PostgreSQL
package import CloudKitServerCore

/// The rows that a job concerns.
package enum JobKind: Hashable, Sendable {
    case read
    /// The bytes of assets, which no other kind of job concerns.
    case assets
    case write(WriteScope)
}

/// A job of a ``JobQueue``.
package protocol QueuedJob: Sendable {
    /// The rows that the job concerns.
    var kind: JobKind { get }
    /// `true` when the job shares its transaction with no other one.
    var isSingle: Bool { get }
}

extension QueuedJob {
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
///
/// A transaction costs PostgreSQL more than what a small job does in it. So two go side by side, and more
/// only for crowds, or for jobs that have waited for some time: the two may be long.
package struct JobQueue<Job: QueuedJob> {
    /// The number of transactions that read, and of those that write, that go side by side in any case.
    private static var few: Int { 2 }
    /// The number of waiting reads, or writes, for which there are more.
    private static var crowd: (reads: Int, writes: Int) { (8, 16) }

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
    /// `true` unless all waiting writes have to wait for those that run.
    private var hasOpenWrites = false
    private var readers = 0
    private var writers = 0
    private var assetJobs = 0
    /// `true` when the last job but reads concerned an asset.
    private var wasAsset = false
    private var isEverythingRunning = false
    /// `true` when no more jobs are added.
    package var isClosed = false

    /// Creates an empty queue.
    package init() {}

    /// The number of waiting jobs.
    package var count: Int { reads.count + assets.count + writes.count }

    package mutating func add(_ job: Job) {
        switch job.kind {
        case .read: reads.jobs.append(job)
        case .assets: assets.jobs.append(job)
        case .write:
            writes.append(job)
            let parts = job.parts
            hasOpenWrites =
                hasOpenWrites || parts.contains(.everything) || running.isDisjoint(with: parts)
        }
    }

    /// `true` when jobs wait only because more of them could come to share their transaction.
    package var holdsBack: Bool { holdsReadsBack || holdsWritesBack }

    private var holdsReadsBack: Bool {
        readers >= Self.few && reads.count > 0 && reads.count < Self.crowd.reads
    }

    private var holdsWritesBack: Bool {
        writers >= Self.few && hasOpenWrites && writes.count < Self.crowd.writes
            && !isEverythingRunning
    }

    /// Returns whether a thread without work probably has some.
    ///
    /// - Parameter limit: The maximum number of transactions that write, or concern assets, at a time.
    /// - Returns: `false` if nothing can run, or all that can is held back.
    package func hasWork(writers limit: Int) -> Bool {
        if reads.count > 0, !holdsReadsBack { return true }
        guard writers + assetJobs < limit else { return false }
        if assets.count > 0, assetJobs < max(1, limit / 2) { return true }
        return hasOpenWrites && !isEverythingRunning && !holdsWritesBack
    }

    /// Puts jobs back to the front.
    package mutating func putBack(_ jobs: [Job]) {
        for job in jobs.reversed() {
            switch job.kind {
            case .read: reads.putBack(job)
            case .assets: assets.putBack(job)
            case .write:
                writes.insert(job, at: 0)
                hasOpenWrites = true
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
    ///   - isLate: `true` when jobs were held back for long enough.
    /// - Returns: The jobs; empty if none can run.
    package mutating func next(
        writers limit: Int,
        size: Int,
        reading readSize: Int,
        isLate: Bool
    ) -> [Job] {
        if writers + assetJobs < limit {
            // However many writes wait, assets go on, and the other way round.
            if assetJobs == 0, !wasAsset, let job = nextAsset() { return [job] }
            if isLate || !holdsWritesBack, let group = nextWrites(size: size) {
                wasAsset = false
                return group
            }
            if assetJobs < max(1, limit / 2), let job = nextAsset() { return [job] }
        }
        guard reads.count > 0, isLate || !holdsReadsBack else { return [] }
        readers += 1
        return reads.take(min(readSize, Self.share(reads.count)))
    }

    /// Returns the share of one connection in waiting jobs: the others are for another one.
    private static func share(_ count: Int) -> Int { (count + 1) / 2 }

    private mutating func nextAsset() -> Job? {
        guard let job = assets.take(1).first else { return nil }
        assetJobs += 1
        wasAsset = true
        return job
    }

    private mutating func nextWrites(size: Int) -> [Job]? {
        guard hasOpenWrites, !isEverythingRunning else { return nil }
        var group: [Job] = []
        var taken: Set<WriteScope> = []
        var blocked: Set<WriteScope> = []
        var rest: [Job] = []
        let share = min(size, Self.share(writes.count))
        var place = 0
        hasOpenWrites = false
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
            let isFree = running.isDisjoint(with: parts) && blocked.isDisjoint(with: parts)
            let isFull = group.count >= (taken.isDisjoint(with: parts) ? share : size)
            let fits = job.isSingle ? group.isEmpty : !isFull && group.first?.isSingle != true
            if fits, isFree {
                group.append(job)
                taken.formUnion(parts)
            } else {
                hasOpenWrites = hasOpenWrites || (isFree && taken.isDisjoint(with: parts))
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
    package mutating func end(_ jobs: [Job]) {
        switch jobs.first?.kind {
        case nil: return
        case .read: readers -= 1
        case .assets: assetJobs -= 1
        case .write(let scope):
            writers -= 1
            hasOpenWrites = !writes.isEmpty
            if scope.parts.contains(.everything) { isEverythingRunning = false }
            for job in jobs { running.subtract(job.parts) }
        }
    }
}
#endif
