#if PostgreSQL
import CloudKitServerCore

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

/// The address and the settings of a storage's connections.
struct Connector: Sendable {
    var address: String
    var settings: [(name: String, value: String)]

    /// The pause between two attempts, in microseconds.
    private static let pause: UInt32 = 100_000

    /// Connects; tries again until a time.
    func connect(until end: ContinuousClock.Instant) throws -> PostgresConnection {
        while true {
            do {
                return try PostgresConnection(address, settings: settings)
            } catch let failure as PostgresFailure where failure.isLost {
                guard ContinuousClock.now < end else { throw failure }
                usleep(Self.pause)
            }
        }
    }
}

/// One thread of the storage, with its connection.
final class Worker {
    /// The number of times that jobs run beside others before they run alone, and at all.
    private static let sharedTries = 3
    private static let tries = 10

    private let connector: Connector
    private let memory: NodeMemory
    private let counters: Counters
    private var connection: PostgresConnection?

    init(connector: Connector, memory: NodeMemory, counters: Counters) {
        self.connector = connector
        self.memory = memory
        self.counters = counters
    }

    /// Runs jobs until there will be none.
    func work(for workers: Workers) {
        while let jobs = workers.next() {
            let again = run(jobs)
            workers.end(jobs, puttingBack: again)
        }
    }

    /// Runs jobs; returns those that have to run again.
    private func run(_ jobs: [Job]) -> [Job] {
        let now = ContinuousClock.now
        for job in jobs where job.end < now {
            job.finish(StorageError(.busy, "The request waited too long for PostgreSQL"))
        }
        let jobs = jobs.filter { $0.end >= now }
        guard let first = jobs.first else { return [] }
        do {
            if connection == nil { connection = try connector.connect(until: first.end) }
            guard let connection else { return [] }
            if first.kind == .read {
                read(first, connection)
                return []
            }
            return try write(jobs, connection)
        } catch {
            for job in jobs { job.finish(error) }
            return []
        }
    }

    // MARK: Reads

    private func read(_ job: Job, _ connection: PostgresConnection) {
        var connection = connection
        for attempt in 1... {
            let transaction = PostgresTransaction(connection, memory, .nothing)
            let start = connection.roundTrips
            do {
                transaction.announce(job.needs())
                try job.run(transaction)
                if let failure = transaction.failure { throw failure }
                count(transaction, connection.roundTrips - start)
                job.finish(nil)
                // Nobody waits for the end of a snapshot.
                end(transaction)
                return
            } catch {
                end(transaction)
                guard let failure = transaction.failure, failure.isLost, attempt < Self.tries else {
                    return job.finish(transaction.failure ?? error)
                }
                counters.add { $0.repetitions += 1 }
                do {
                    connection = try connector.connect(until: job.end)
                    self.connection = connection
                } catch {
                    return job.finish(error)
                }
            }
        }
    }

    /// Ends a transaction without its changes; gives up the connection if that fails.
    private func end(_ transaction: PostgresTransaction) {
        do {
            if transaction.failure?.isLost ?? false { connection = nil }
            try transaction.end()
        } catch {
            connection = nil
        }
    }

    private func count(_ transaction: PostgresTransaction, _ roundTrips: Int) {
        counters.add {
            $0.transactions += 1
            $0.roundTrips += roundTrips
            $0.unannouncedReads += transaction.unannouncedReads
        }
    }

    // MARK: Writes

    private func write(_ jobs: [Job], _ connection: PostgresConnection) throws -> [Job] {
        let start = connection.roundTrips
        var again: [Job] = []
        let group: [Job]
        let reach: PostgresTransaction.Reach
        do {
            (group, reach) = try self.reach(of: jobs, connection, &again)
        } catch let failure as PostgresFailure where failure.isLost {
            counters.add { $0.repetitions += 1 }
            return jobs.compactMap { repeated($0, after: failure) }
        }
        guard !group.isEmpty else { return again }
        let transaction = PostgresTransaction(connection, memory, reach)
        for job in group { transaction.announce(job.needs()) }
        var outcomes: [(job: Job, error: (any Error)?)] = []
        for job in group {
            let before = group.count > 1 ? transaction.state : PostgresTransaction.State()
            let flushes = transaction.flushes
            do {
                try job.run(transaction)
                if let failure = transaction.failure { throw failure }
                outcomes.append((job, nil))
            } catch {
                if transaction.failure != nil || group.count == 1 || transaction.flushes != flushes
                {
                    end(transaction)
                    return again + after(error, transaction, group, isSent: false)
                }
                // Nothing of it has left this process.
                transaction.state = before
                if error is ScopeExceeded {
                    again.append(alone(job))
                } else {
                    outcomes.append((job, error))
                }
            }
        }
        return again + commit(transaction, outcomes, start, connection)
    }

    private func commit(
        _ transaction: PostgresTransaction,
        _ outcomes: [(job: Job, error: (any Error)?)],
        _ start: Int,
        _ connection: PostgresConnection
    ) -> [Job] {
        let marker = Self.newMarker()
        do {
            try transaction.commit(marker: marker)
        } catch {
            let jobs = outcomes.map(\.job)
            guard transaction.failure?.isLost ?? false else {
                end(transaction)
                return after(error, transaction, jobs, isSent: false)
            }
            self.connection = nil
            counters.add { $0.resolutions += 1 }
            do {
                let end = jobs.map(\.end).min() ?? .now
                guard try wasCommitted(marker, until: end) else {
                    return after(error, transaction, jobs, isSent: false)
                }
            } catch {
                return after(error, transaction, jobs, isSent: true)
            }
        }
        count(transaction, connection.roundTrips - start)
        for (job, error) in outcomes { job.finish(error) }
        return []
    }

    /// Returns whether a transaction was committed whose connection was lost.
    ///
    /// Adding its marker waits until the transaction has ended, and prevents that it commits later.
    private func wasCommitted(
        _ marker: Data,
        until end: ContinuousClock.Instant
    ) throws -> Bool {
        while true {
            do {
                let fresh = try connector.connect(until: end)
                connection = fresh
                do {
                    try fresh.run([Self.insert(marker)])
                    return false
                } catch let failure as PostgresFailure where failure.code == "23505" {
                    // It may be on the primary alone, if it was cut off while it waited for a
                    // standby; this commit waits for the same one, and for all before it.
                    try fresh.run([Self.insert(Self.newMarker())])
                    return true
                }
            } catch let failure as PostgresFailure where failure.isLost {
                connection = nil
                guard ContinuousClock.now < end else { throw failure }
            }
        }
    }

    /// Finishes the jobs of a transaction that was undone, or returns them to run again.
    ///
    /// - Parameters:
    ///   - error: What the transaction ended with.
    ///   - transaction: The transaction.
    ///   - jobs: Its jobs.
    ///   - isSent: `true` when it may have been committed nevertheless.
    /// - Returns: The jobs to run again.
    private func after(
        _ error: any Error,
        _ transaction: PostgresTransaction,
        _ jobs: [Job],
        isSent: Bool
    ) -> [Job] {
        if isSent {
            let unknown = StorageError(
                .unresolved,
                "The connection to PostgreSQL was lost during a commit, and there is no other one to "
                    + "find out whether it was kept"
            )
            for job in jobs { job.finish(unknown) }
            return []
        }
        let failure = transaction.failure ?? (error as? PostgresFailure)
        let isConflict =
            failure.map {
                $0.isConflict && (transaction.reach != .everything || $0.code != "23505")
            }
            ?? false
        if isConflict || failure?.isLost ?? false {
            counters.add { $0.repetitions += 1 }
            return jobs.compactMap { repeated($0, after: failure) }
        }
        guard jobs.count > 1 else {
            if error is ScopeExceeded { return jobs.map(alone) }
            for job in jobs { job.finish(failure ?? error) }
            return []
        }
        // Which of them is at fault shows when each has a transaction of its own.
        return jobs.map { job in
            var job = job
            job.isSingle = true
            return job
        }
    }

    private func repeated(_ job: Job, after failure: PostgresFailure?) -> Job? {
        var job = job
        job.tries += 1
        guard job.tries < Self.tries else {
            job.finish(failure ?? StorageError(.busy, "The write ran too often in vain"))
            return nil
        }
        job.isSingle = true
        if job.tries >= Self.sharedTries, failure?.isLost != true { return alone(job) }
        return job
    }

    /// Returns a job that changes more than it announced, or must not be in the way of others.
    private func alone(_ job: Job) -> Job {
        var job = job
        job.kind = .write(.everything)
        return job
    }

    /// Returns the jobs that can run, and what they change; the others have to run alone.
    private func reach(
        of jobs: [Job],
        _ connection: PostgresConnection,
        _ again: inout [Job]
    ) throws -> ([Job], PostgresTransaction.Reach) {
        var numbers: [DatabaseKey: Int64] = [:]
        var unknown: Set<DatabaseKey> = []
        for job in jobs {
            guard case .write(.database(let key)) = job.kind else {
                return (jobs, .everything)
            }
            if let number = memory.database(key) {
                numbers[key] = number
            } else {
                unknown.insert(key)
            }
        }
        if !unknown.isEmpty {
            let found = try look(for: unknown, connection)
            numbers.merge(found) { $1 }
        }
        let group = jobs.filter { job in
            guard case .write(.database(let key)) = job.kind else { return false }
            return numbers[key] != nil
        }
        again = jobs.filter { job in
            guard case .write(.database(let key)) = job.kind else { return false }
            return numbers[key] == nil
        }.map(alone)
        return (group, .databases(Set(numbers.values)))
    }

    private func look(
        for keys: Set<DatabaseKey>,
        _ connection: PostgresConnection
    ) throws -> [DatabaseKey: Int64] {
        var found: [DatabaseKey: Int64] = [:]
        do {
            try connection.run(
                keys.map { key in
                    PostgresTransaction.selectDatabase(key) { rows in
                        for row in rows { found[key] = row.int(0) }
                    }
                }
            )
        } catch let failure as PostgresFailure where failure.isLost {
            self.connection = nil
            throw failure
        }
        memory.remember(found, homes: [:])
        return found
    }

    private static func insert(_ marker: Data) -> Statement {
        Statement(
            sql: "INSERT INTO commit_marker (id) VALUES ($1)",
            parameters: [.bytes(marker)]
        )
    }

    private static func newMarker() -> Data {
        var generator = SystemRandomNumberGenerator()
        var marker = Data()
        for _ in 0..<2 { withUnsafeBytes(of: generator.next()) { marker.append(contentsOf: $0) } }
        return marker
    }
}
#endif
