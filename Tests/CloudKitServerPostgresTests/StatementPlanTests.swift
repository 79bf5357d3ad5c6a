#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import PostgresFixtures
import ServerFixtures
import Synchronization
import Testing

@Suite(
    "Plans of statements on PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct StatementPlanTests {
    /// The statements that read all partitions, or all rows, by words that only they have, and why
    /// they may: none of them is part of a request that clients make often.
    private static let throughAll = [
        (
            "zone WHERE id = $1",
            "a node asks once for the database of a zone that it knows by number"
        ),
        ("FROM record AS old", "cleaning: the oldest tombstones of all"),
        ("FROM asset WHERE checksum", "cleaning: whether anybody needs a file"),
        (
            "SELECT DISTINCT known.database, known.zone",
            "a schema that gets an index adds the records that have no entry in it"
        ),
    ]

    @Test("Each reads one partition at most, by an index", arguments: [0, 16])
    func statements(partitions: Int) async throws {
        let server = try PostgresServer(.init(settings: StatementPlan.settings))
        let address = try server.newDatabase()
        let node = ChangingNode(try await PostgresServer.open(address, partitions: partitions))
        let world = try await RequestWorld(node)
        try await world.send("a")
        // A node that has just started knows no database and no zone.
        node.change(to: try await PostgresServer.open(address))
        try await world.send("b")
        let plans = try StatementPlan.all(in: server.log)
        #expect(plans.count > 1000)
        let columns = try server.indexColumns(in: address)
        var found: [String: [String]] = [:]
        for plan in plans where !Self.throughAll.contains(where: { plan.text.contains($0.0) }) {
            let problems =
                plan.spreadTables.map { "several partitions of \($0)" } + plan.fullReads(columns)
            if !problems.isEmpty { found[plan.text] = problems }
        }
        #expect(found == [:])
    }
}

/// A storage whose requests go to one node, and later to another one.
private final class ChangingNode: Storage {
    private let node: Mutex<PostgresStorage>

    init(_ node: PostgresStorage) { self.node = Mutex(node) }

    private var current: PostgresStorage { node.withLock { $0 } }

    func change(to other: PostgresStorage) { node.withLock { $0 = other } }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await current.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await current.write(body)
    }

    func read<Value: Sendable>(
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await current.read(needing: needs, body)
    }

    func write<Value: Sendable>(
        _ scope: WriteScope,
        needing needs: @escaping @Sendable () -> StorageNeeds,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await current.write(scope, needing: needs, body)
    }
}

extension PostgresServer {
    /// The server's log so far.
    var log: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: data + "/log")) } }

    /// Returns the columns of each index of a database, in their order.
    func indexColumns(in address: String) throws -> [String: [String]] {
        let lines = try run(
            """
            SELECT class.relname || ' ' || string_agg(attname, ' ' ORDER BY attnum)
            FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid
            WHERE class.relkind = 'i' AND class.relnamespace = 'public'::regnamespace
            GROUP BY class.relname
            """,
            in: address
        ).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0[0], Array($0.dropFirst())) })
    }
}
#endif
