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

/// One thread of the storage, with its connection.
final class Worker {
    /// The number of times that jobs run beside others before they run alone, and at all.
    private static let sharedTries = 3
    private static let tries = 10
    /// The pause of a thread that cannot connect while others have connections, in microseconds.
    private static let rest: UInt32 = 1_000_000
    /// The minimum time for finding out whether a commit was kept.
    private static let resolution = Duration.seconds(10)

    private let connector: Connector
    private let memory: NodeMemory
    private let counters: Counters
    private var connection: PostgresConnection? {
        didSet {
            let change = (connection == nil ? 0 : 1) - (oldValue == nil ? 0 : 1)
            counters.add { $0.connections += change }
        }
    }
    /// `true` when others have to run the jobs, because only they have connections.
    private var isWithout = false

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
            if isWithout { usleep(Self.rest) }
        }
        connection = nil
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
            isWithout = try !connect(for: first)
            guard !isWithout, let connection else { return jobs }
            connection.patience = first.patience
            switch first.kind {
            case .read: read(jobs, connection)
            case .assets: read(first, connection, .assets)
            case .write: return try write(jobs, connection)
            }
            return []
        } catch let failure as PostgresFailure where failure.isLost && !failure.isFinal {
            let again = jobs.compactMap { repeated($0, after: failure) }
            if !again.isEmpty { counters.add { $0.repetitions += 1 } }
            return again
        } catch {
            for job in jobs { job.finish(error) }
            return []
        }
    }

    // MARK: Connections

    /// Connects if there is no connection that can be used.
    ///
    /// - Returns: `false` if there is none, while others have connections.
    private func connect(for job: Job) throws -> Bool {
        if let connection, connection.isAlive() { return true }
        connection = nil
        while true {
            do {
                connection = try connector.connectOnce(until: job.end)
                counters.add { $0.connects += 1 }
                return true
            } catch let failure as PostgresFailure where failure.isLost && !failure.isFinal {
                let isAlone = counters.counts.connections == 0
                if isAlone { connector.reachability.lost(failure) }
                guard ContinuousClock.now < job.end else { throw failure }
                guard isAlone else { return false }
                usleep(Connector.pause)
            }
        }
    }

    /// Replaces the connection in the course of a job.
    private func reconnect(
        until end: ContinuousClock.Instant,
        _ patience: Duration?
    ) throws -> PostgresConnection {
        connection = nil
        let fresh = try connector.connect(until: end) { failure in
            if counters.counts.connections == 0 { connector.reachability.lost(failure) }
        }
        fresh.patience = patience
        connection = fresh
        counters.add { $0.connects += 1 }
        return fresh
    }

    // MARK: Reads

    /// Runs reads on one snapshot, which is as new as each of them may ask for.
    private func read(_ jobs: [Job], _ connection: PostgresConnection) {
        guard jobs.count > 1 else { return jobs.forEach { read($0, connection, .nothing) } }
        let transaction = PostgresTransaction(connection, memory, .nothing)
        let start = connection.roundTrips
        for job in jobs { transaction.announce(job.needs()) }
        for (place, job) in jobs.enumerated() {
            do {
                try job.run(transaction)
                if let failure = transaction.failure { throw failure }
                job.finish(nil)
            } catch {
                guard transaction.failure == nil else {
                    // Whoever is at fault, the others go on by themselves.
                    end(transaction)
                    for job in jobs[place...] { read(job, self.connection ?? connection, .nothing) }
                    return
                }
                job.finish(error)
            }
        }
        count(transaction, connection.roundTrips - start)
        end(transaction)
    }

    private func read(
        _ job: Job,
        _ connection: PostgresConnection,
        _ reach: PostgresTransaction.Reach
    ) {
        var connection = connection
        for attempt in 1... {
            let transaction = PostgresTransaction(connection, memory, reach)
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
                guard let failure = transaction.failure, failure.isLost, attempt < Self.tries,
                    ContinuousClock.now < job.end
                else { return job.finish(transaction.failure ?? error) }
                counters.add { $0.repetitions += 1 }
                do {
                    connection = try reconnect(until: job.end, job.patience)
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
        let reach = try self.reach(of: jobs, connection)
        if reach == .everything { counters.add { $0.exclusiveWrites += 1 } }
        let transaction = PostgresTransaction(
            connection,
            memory,
            reach,
            lockTimeout: lockTimeout(of: jobs)
        )
        for job in jobs { transaction.announce(job.needs()) }
        var outcomes: [(job: Job, error: (any Error)?)] = []
        for job in jobs {
            let before = jobs.count > 1 ? transaction.state : PostgresTransaction.State()
            let flushes = transaction.flushes
            do {
                try job.run(transaction)
                if let failure = transaction.failure { throw failure }
                outcomes.append((job, nil))
            } catch {
                if transaction.failure != nil || jobs.count == 1 || transaction.flushes != flushes {
                    end(transaction)
                    return again + after(error, transaction, jobs, isSent: false)
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

    /// Returns the time for which jobs may wait for locks; nil for that of the session.
    private func lockTimeout(of jobs: [Job]) -> Duration? {
        let left = (jobs.map(\.end).min() ?? .now) - .now
        return left < connector.patience - .seconds(1) ? max(left, .seconds(1)) : nil
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
                guard try wasCommitted(marker, jobs) else {
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
    private func wasCommitted(_ marker: Data, _ jobs: [Job]) throws -> Bool {
        // An unknown outcome is worse than a late one.
        let end = max(jobs.map(\.end).min() ?? .now, .now + Self.resolution)
        while true {
            do {
                let fresh = try reconnect(until: end, jobs.first?.patience)
                do {
                    try fresh.run([Self.insert(marker)])
                    return false
                } catch let failure as PostgresFailure where failure.code == "23505" {
                    // It may be on the primary alone, if it was cut off while it waited for a
                    // standby; this commit waits for the same one, and for all before it.
                    try fresh.run([Self.insert(Self.newMarker())])
                    return true
                }
            } catch let failure as PostgresFailure where failure.isLost && !failure.isFinal {
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
        guard job.tries < Self.tries, ContinuousClock.now < job.end else {
            job.finish(failure ?? StorageError(.busy, "The write ran too often in vain"))
            return nil
        }
        job.isSingle = true
        if job.tries >= Self.sharedTries, failure?.isLost != true { return alone(job) }
        return job
    }

    /// Returns a job that changes more than it announced, or must not be in the way of others.
    private func alone(_ job: Job) -> Job {
        memory.forgetNames()
        var job = job
        job.kind = .write(.everything)
        return job
    }

    /// Returns what jobs change together.
    ///
    /// A database that does not exist is not looked for again: a job that writes to it nevertheless runs
    /// alone.
    private func reach(
        of jobs: [Job],
        _ connection: PostgresConnection
    ) throws -> PostgresTransaction.Reach {
        let scopes = jobs.reduce(into: Set()) { $0.formUnion($1.parts) }
        guard !scopes.contains(.everything) else { return .everything }
        try look(for: scopes, connection)
        var databases: Set<Int64> = []
        var locks: Set<Int64> = []
        for scope in scopes {
            switch scope {
            case .database(let key): databases.formUnion([memory.database(key)].compactMap(\.self))
            case .databaseNamed(let name):
                databases.formUnion([memory.database(name)].compactMap(\.self))
            case .user(let id): locks.insert(PostgresTables.Lock.key(ofUser: id))
            case .queue(let queue): locks.insert(PostgresTables.Lock.key(ofQueue: queue))
            case .credential(let hash): locks.insert(PostgresTables.Lock.key(ofCredential: hash))
            case .everything, .several: break
            }
        }
        return .some(databases: databases, locks: locks)
    }

    /// Finds out the numbers of the databases that the node does not know yet.
    private func look(for scopes: Set<WriteScope>, _ connection: PostgresConnection) throws {
        let memory = memory
        let statements = scopes.compactMap { scope -> Statement? in
            switch scope {
            case .database(let key) where memory.database(key) == nil:
                return PostgresTransaction.selectDatabase(key) { rows in
                    for row in rows { memory.remember([key: row.int(0)], homes: [:]) }
                }
            case .databaseNamed(let name) where memory.database(name) == nil:
                return PostgresTransaction.selectDatabase(name) { rows in
                    for row in rows { memory.remember(row.int(0), of: name) }
                }
            default: return nil
            }
        }
        try connection.run(statements)
    }

    private static func insert(_ marker: Data) -> Statement {
        Statement(
            sql: "INSERT INTO commit_marker (id) VALUES ($1)",
            parameters: [.bytes(marker)]
        )
    }

    /// Returns a random number that no other one equals.
    static func newMarker() -> Data {
        var generator = SystemRandomNumberGenerator()
        var marker = Data()
        for _ in 0..<2 { withUnsafeBytes(of: generator.next()) { marker.append(contentsOf: $0) } }
        return marker
    }
}
#endif
