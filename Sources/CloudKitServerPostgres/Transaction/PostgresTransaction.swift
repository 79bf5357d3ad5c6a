#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error that is thrown from a write that changes more than it announced; it runs again, alone.
struct ScopeExceeded: Error {}

/// One transaction on one connection, as a unit of work.
///
/// Nothing goes to the server before something has to be read. Then everything goes at once: the
/// beginning of the transaction, the changes so far, all announced reads, and the read itself. What was read
/// is kept, absence included, and changes go along with the next read or with the end. So the number of
/// round trips is that of the reads that nobody announced, and two.
final class PostgresTransaction {
    /// The rows that the transaction may change, which it has locked.
    enum Reach: Hashable {
        /// None, on one snapshot of the data.
        case nothing
        /// The bytes of assets, by statements that are transactions of their own.
        case assets
        /// Everything; nothing else is written meanwhile.
        case everything
        /// Some databases, and what other locks stand for; and documents and queues.
        case some(databases: Set<Int64>, locks: Set<Int64>)
    }

    /// The part that a closure that fails has to leave as it was.
    struct State {
        var cache = RowCache()
        var changes = PendingChanges()
        /// The news of the changes for other nodes.
        var news = ForeignChanges()
        /// The documents that this transaction has written.
        var ownDocuments: Set<RowCache.DocumentName> = []
    }

    /// About how many bytes of changes may wait for the end.
    private static let waitingBytes = 8 << 20

    let connection: PostgresConnection
    let memory: NodeMemory
    let reach: Reach
    /// The maximum time for which the transaction waits for a lock; nil for that of the session.
    private let lockTimeout: Duration?
    var state = State()
    /// The needs that were announced and not read yet.
    private(set) var pending: [StorageNeeds] = []
    /// `true` once the server has the beginning of the transaction.
    private(set) var isOpen = false
    /// The number of times that changes went to the server before the end.
    private(set) var flushes = 0
    /// The number of reads that nobody had announced.
    private(set) var unannouncedReads = 0
    /// The failure that has ended the transaction.
    private(set) var failure: PostgresFailure?

    init(
        _ connection: PostgresConnection,
        _ memory: NodeMemory,
        _ reach: Reach,
        lockTimeout: Duration? = nil
    ) {
        self.connection = connection
        self.memory = memory
        self.reach = reach
        self.lockTimeout = lockTimeout
    }

    var cache: RowCache {
        get { state.cache }
        _modify { yield &state.cache }
    }

    // MARK: Beginning and end

    private var beginning: [Statement] {
        func begin(_ mode: String) -> Statement {
            Statement(sql: "BEGIN ISOLATION LEVEL \(mode)")
        }
        func lock(_ function: String, _ numbers: [Parameter]) -> Statement {
            let places = numbers.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            return Statement(sql: "SELECT \(function)(\(places))", parameters: numbers)
        }
        var statements: [Statement]
        switch reach {
        case .nothing: statements = [begin("REPEATABLE READ READ ONLY")]
        case .assets: return []
        case .everything:
            statements = [
                begin("READ COMMITTED READ WRITE"),
                lock("pg_advisory_xact_lock", [.int(PostgresTables.Lock.everything)]),
            ]
        case .some(let databases, let locks):
            // Every statement sees what was committed before it, and nothing that this transaction may
            // read and change is changed by another one after its locks.
            statements = [
                begin("READ COMMITTED READ WRITE"),
                lock("pg_advisory_xact_lock_shared", [.int(PostgresTables.Lock.everything)]),
            ]
            // In order, so that no two transactions wait for each other.
            let keys = locks.union(databases.map(PostgresTables.Lock.key(ofDatabase:))).sorted()
            statements.append(
                Statement(
                    sql: "SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key",
                    parameters: [.ints(keys)]
                )
            )
        }
        if let lockTimeout {
            let milliseconds = Int64(lockTimeout / .milliseconds(1))
            statements.insert(
                Statement(
                    sql: "SELECT set_config('lock_timeout', $1, true)",
                    parameters: [.text(String(milliseconds))]
                ),
                at: 1
            )
        }
        if reach != .nothing, memory.needsNumbers { statements.append(blockOfNumbers) }
        return statements
    }

    private var blockOfNumbers: Statement {
        let memory = memory
        return Statement(sql: "SELECT nextval('row_block')") { rows in
            for row in rows { memory.addNumbers(from: row.int(0)) }
        }
    }

    /// Commits the changes, with a marker by which that can be found out later.
    ///
    /// - Throws: `PostgresFailure`; if the connection was lost, nobody knows whether the changes are there.
    func commit(marker: Data) throws {
        if let failure { throw failure }
        let hasNews = state.news != ForeignChanges()
        guard isOpen || hasNews || !state.changes.isEmpty else { return }
        var statements = isOpen ? [] : beginning
        let changes = state.changes.take()
        statements += changes
        if !changes.isEmpty || flushes > 0 {
            statements.append(
                Statement(
                    sql: "INSERT INTO commit_marker (id) VALUES ($1)",
                    parameters: [.bytes(marker)]
                )
            )
            if memory.isTimeToTidy() { statements.append(Self.removeOldMarkers) }
        }
        if hasNews {
            statements.append(
                Statement(
                    sql: "SELECT pg_notify($1, $2)",
                    parameters: [
                        .text(Notice.channel), .text(Notice(from: memory.node, state.news).text),
                    ]
                )
            )
        }
        var status = ""
        statements.append(
            Statement(sql: "COMMIT") { status = $0.status }
        )
        isOpen = true
        try run(statements)
        guard status == "COMMIT" else {
            throw PostgresFailure(code: "40000", message: "The transaction was rolled back")
        }
        remember()
    }

    /// The removal of markers that nobody looks up any more.
    ///
    /// A marker is looked up in the moments after its connection was lost. Nodes that remove some at the same
    /// time do not wait for each other.
    private static var removeOldMarkers: Statement {
        Statement(
            sql: """
                DELETE FROM commit_marker WHERE id = ANY(ARRAY(
                    SELECT id FROM commit_marker WHERE made < now() - interval '1 hour'
                    ORDER BY made LIMIT \(4 * NodeMemory.commitsPerTidying) FOR UPDATE SKIP LOCKED
                ))
                """
        )
    }

    /// Ends a transaction that changes nothing.
    func end() throws {
        guard isOpen else { return }
        isOpen = false
        if reach == .assets { return }
        if failure == nil, reach == .nothing { remember() }
        if failure?.isLost ?? false { return }
        try connection.run([Statement(sql: "ROLLBACK", isPrepared: false)])
    }

    /// Lets the node remember numbers that never change.
    private func remember() {
        var databases: [DatabaseKey: Int64] = [:]
        for (key, row) in cache.databases { databases[key] = row?.id.rawValue }
        var homes: [Int64: Int64] = [:]
        for (id, row) in cache.zoneRows { homes[id.rawValue] = row?.database.rawValue }
        memory.remember(databases, homes: homes)
    }

    // MARK: Round trips

    /// Announces reads, which go along with the next one that has to be made.
    func prepare(_ needs: (_ reader: any StorageReader) throws -> StorageNeeds) throws {
        announce(try needs(self))
    }

    /// Adds needs to what goes along with the next read.
    func announce(_ needs: StorageNeeds) { pending.append(needs) }

    /// Reads what some needs name, with everything that waits.
    func read(_ needs: StorageNeeds) throws {
        unannouncedReads += pending.isEmpty ? 1 : 0
        pending.append(needs)
        try exchange([])
    }

    /// Reads what some needs of a zone name, with everything that waits.
    func read(
        _ zone: RowID<StoredZone>,
        _ change: (inout StorageNeeds.Contents) -> Void
    ) throws {
        var needs = StorageNeeds()
        needs.zone(zone, change)
        try read(needs)
    }

    /// Sends reads of other kinds, with everything that waits.
    func read(_ statement: Statement) throws {
        unannouncedReads += 1
        try exchange([statement])
    }

    /// Returns the rows of a read of another kind.
    func all<Value>(
        _ sql: String,
        _ parameters: [Parameter],
        _ make: @escaping (ResultRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try read(
            Statement(sql: sql, parameters: parameters) { rows in
                for row in rows { values.append(try make(row)) }
            }
        )
        return values
    }

    /// Sends the changes if they are many.
    func sendManyChanges() throws {
        guard state.changes.bytes > Self.waitingBytes else { return }
        try exchange([])
    }

    private func exchange(_ reads: [Statement]) throws {
        if let failure { throw failure }
        var builder = NeedReads(self)
        let needs = pending
        pending = []
        let first = builder.unknownPlaces(of: needs)
        if !first.isEmpty { try run(takeWaiting() + first) }
        for need in needs { builder.add(need) }
        try run(takeWaiting() + builder.allStatements + reads)
    }

    /// Takes the beginning and the changes so far.
    private func takeWaiting() -> [Statement] {
        let opening = isOpen ? [] : beginning
        isOpen = true
        let changes = state.changes.take()
        if !changes.isEmpty { flushes += 1 }
        return opening + changes
    }

    private func run(_ statements: [Statement]) throws {
        do {
            try connection.run(statements)
        } catch let error as PostgresFailure {
            failure = error
            throw error
        }
    }

    // MARK: Places

    /// Returns the number of a database if it is known.
    func number(of key: DatabaseKey) -> Int64? {
        if let known = cache.databases[key] { return known?.id.rawValue }
        return memory.database(key)
    }

    /// Returns the number of a zone's database if it is known.
    func knownHome(of zone: RowID<StoredZone>) -> Int64? {
        if let known = cache.zoneRows[zone] { return known?.database.rawValue }
        return memory.home(of: zone)
    }

    /// Returns the number of a zone's database; nil if there is no such zone.
    func home(of zone: RowID<StoredZone>) throws -> Int64? {
        if let known = knownHome(of: zone) { return known }
        if cache.zoneRows[zone] == nil { try read(zone) { _ in } }
        return knownHome(of: zone)
    }

    /// Returns the number of the database of a zone that exists, to write to it.
    ///
    /// - Throws: `StorageError` if there is no such zone.
    func homeToFill(_ zone: RowID<StoredZone>) throws -> Int64 {
        if cache.zoneRows[zone] == nil { try read(zone) { _ in } }
        guard let row = cache.zoneRows[zone] ?? nil else {
            throw StorageError(.other, "There is no zone \(zone.rawValue) to write to")
        }
        try requireReach(of: row.database.rawValue)
        return row.database.rawValue
    }

    /// Returns a number for a new row.
    func takeNumber() throws -> Int64 {
        if let number = memory.takeNumber() { return number }
        while true {
            try exchange([blockOfNumbers])
            if let number = memory.takeNumber() { return number }
        }
    }

    // MARK: Reach

    /// Checks that the transaction may change anything.
    func requireEverything() throws {
        if reach != .everything { throw ScopeExceeded() }
    }

    /// Checks that the transaction may change a database.
    func requireReach(of database: Int64) throws {
        switch reach {
        case .everything: return
        case .some(let databases, _) where databases.contains(database): return
        default: throw ScopeExceeded()
        }
    }

    /// Checks that the transaction may change a credential.
    func requireReach(ofCredential hash: Data) throws {
        switch reach {
        case .everything: return
        case .some(_, let locks)
        where locks.contains(PostgresTables.Lock.key(ofCredential: hash)):
            return
        default: throw ScopeExceeded()
        }
    }
}
#endif
